package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// state is what the commands of one script remember.
type state struct{ snapshot files }

type stateKey struct{}

// cmdRepo fills the current directory with the prepared repository, rendered if
// so asked. What is there already stays: a script's archive overrides it.
//
//	repo [rendered]
func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	f, err := prepared()
	ts.Check(err)
	from := f.sources
	if len(args) == 1 && args[0] == "rendered" {
		from = f.rendered
	} else if len(args) > 0 || neg {
		ts.Fatalf("usage: repo [rendered]")
	}
	ts.Check(from.writeMissing(ts.MkAbs(".")))
}

// cmdExits runs a program that must end with an exit code, and must not print a
// secret of the prepared repository.
//
//	exits code program [argument...]
func cmdExits(ts *testscript.TestScript, neg bool, args []string) { exits(ts, neg, args) }

func exits(ts *testscript.TestScript, neg bool, args []string) answered {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: exits code program [argument...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	f, err := prepared()
	ts.Check(err)
	out := execute(ts, args[1], args[2:]...)
	if f.leaks(out.Stdout) || f.leaks(out.Stderr) {
		ts.Fatalf("there is a secret in the output")
	}
	if out.Code != want {
		ts.Fatalf("exit code %d, want %d", out.Code, want)
	}
	return out
}

// cmdRefuses is exits for a command that has nothing to say on stdout and
// changes no file.
//
//	refuses code program [argument...]
func cmdRefuses(ts *testscript.TestScript, neg bool, args []string) {
	before := scan(ts)
	if exits(ts, neg, args).Stdout != "" {
		ts.Fatalf("there is something on stdout")
	}
	if diff := before.diff(scan(ts)); diff != "" {
		ts.Fatalf("files changed:\n%s", diff)
	}
}

// cmdUnleaked wants no secret in any file below the script's directory, that of
// temporary files included, but in those that the script was given: the key of the
// operator, and a bundle to import.
//
//	unleaked
func cmdUnleaked(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) > 0 || neg {
		ts.Fatalf("usage: unleaked")
	}
	f, err := prepared()
	ts.Check(err)
	seen := 0
	ts.Check(filepath.WalkDir(ts.Getenv("WORK"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == ts.Getenv("OPERATOR_KEY") || d.Name() == "bundle.yaml" {
			return err
		}
		seen++
		text, err := os.ReadFile(path)
		if err == nil && f.leaks(string(text)) {
			return fmt.Errorf("there is a secret in %s", path)
		}
		return err
	}))
	if seen == 0 {
		ts.Fatalf("there is no file")
	}
}

func scan(ts *testscript.TestScript) files {
	found, err := readFiles(ts.MkAbs("."))
	ts.Check(err)
	return found
}

// cmdSnapshot remembers all files below the current directory, for changes.
func cmdSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) > 0 || neg {
		ts.Fatalf("usage: snapshot")
	}
	ts.Value(stateKey{}).(*state).snapshot = scan(ts)
}

// cmdChanges prints what changed since the snapshot, to stdout.
func cmdChanges(ts *testscript.TestScript, neg bool, args []string) {
	before := ts.Value(stateKey{}).(*state).snapshot
	if len(args) > 0 || neg || before == nil {
		ts.Fatalf("usage: changes, after a snapshot")
	}
	_, err := ts.Stdout().Write([]byte(before.diff(scan(ts))))
	ts.Check(err)
}

// cmdEdit replaces a text that occurs in a file, everywhere in it. \n is a line
// break.
//
//	edit file old new
func cmdEdit(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 || neg {
		ts.Fatalf("usage: edit file old new")
	}
	text := ts.ReadFile(args[0])
	old, replacement := strings.ReplaceAll(args[1], `\n`, "\n"), strings.ReplaceAll(args[2], `\n`, "\n")
	if !strings.Contains(text, old) {
		ts.Fatalf("%s does not contain %q", args[0], old)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, old, replacement)), 0o644))
}

// cmdFill makes a file of so many megabytes, a comment in YAML.
//
//	fill file megabytes
func cmdFill(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: fill file megabytes")
	}
	megabytes, err := strconv.Atoi(args[1])
	ts.Check(err)
	line := []byte("# " + strings.Repeat("x", 61) + "\n")
	ts.Check(writeFile(ts.MkAbs(args[0]), bytes.Repeat(line, megabytes<<20/len(line))))
}

// lockLine is a line of a lock that names an output.
var lockLine = regexp.MustCompile(`(?m)^    (nodes/\S+|infrastructure\.yaml): sha256:[0-9a-f]{64}$`)

// cmdForge makes the digests in a lock match the files, as somebody would who
// changed a rendered file and wants nobody to notice.
//
//	forge rendered/env
func cmdForge(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 || neg {
		ts.Fatalf("usage: forge rendered/env")
	}
	lock := filepath.Join(args[0], "render.lock.yaml")
	forged := lockLine.ReplaceAllStringFunc(ts.ReadFile(lock), func(line string) string {
		name := lockLine.FindStringSubmatch(line)[1]
		sum := sha256.Sum256([]byte(ts.ReadFile(filepath.Join(args[0], name))))
		return fmt.Sprintf("    %s: sha256:%x", name, sum)
	})
	ts.Check(os.WriteFile(ts.MkAbs(lock), []byte(forged), 0o644))
}
