package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// goCall is a command of Go on packages of this repository, maybe behind
// variables; ciCall is the run of all checks, with its level.
var (
	goCall  = regexp.MustCompile(`(?:^|[ ;&(])go (test|run|generate) ([^|;&#)]*)`)
	ciCall  = regexp.MustCompile(`(?:^|[ (])\.ci/run(?: ([a-z]+))?$`)
	runFlag = regexp.MustCompile(`-run '?([^ ']+)'?`)
	inRepo  = regexp.MustCompile(`(?:^|\s)\./([^\s]*)`)
)

// TestDocsGoCommands finds commands for those who work on the program that name a
// package, a test or a level that does not exist.
func TestDocsGoCommands(t *testing.T) {
	known := 0
	for _, name := range markdown(t) {
		for i, line := range readPage(t, name).lines {
			texts := codeSpan.FindAllString(line.text, -1)
			if line.code {
				texts = []string{line.text}
			}
			for _, text := range texts {
				found, err := checkGoCall(strings.TrimSpace(strings.Trim(text, "`")))
				known += found
				if err != nil {
					t.Errorf("%s:%d: %v", name, i+1, err)
				}
			}
		}
	}
	const least = 40 // else hardly anything is looked at
	if known < least {
		t.Errorf("only %d commands were found", known)
	}
}

// checkGoCall checks the commands in a text, and counts them.
func checkGoCall(text string) (found int, err error) {
	if m := ciCall.FindStringSubmatch(text); m != nil {
		found++
		if err := checkLevel(m[1]); err != nil {
			return found, err
		}
	}
	for _, m := range goCall.FindAllStringSubmatch(text, -1) {
		packages := inRepo.FindAllStringSubmatch(m[2], -1)
		if len(packages) == 0 || strings.Contains(m[2], "-tags ") {
			continue // of a folder that the text has changed to, or of another repository: this one has no tags
		}
		found++
		if m[1] == "run" {
			packages = packages[:1] // what follows are arguments
		}
		var tests []string
		for _, p := range packages {
			in, err := testsIn(p[1])
			if err != nil {
				return found, err
			}
			tests = append(tests, in...)
		}
		if run := runFlag.FindStringSubmatch(m[2]); m[1] == "test" && run != nil {
			first, _, _ := strings.Cut(run[1], "/")
			pattern, err := regexp.Compile(first)
			if err != nil {
				return found, err
			}
			if !slices.ContainsFunc(tests, pattern.MatchString) {
				return found, fmt.Errorf("no test there fits %s", run[0])
			}
		}
	}
	return found, nil
}

// checkLevel refuses what .ci/run does not take.
func checkLevel(level string) error {
	script, err := os.ReadFile(filepath.Join(repository, ".ci/run"))
	if err != nil {
		return err
	}
	levels := regexp.MustCompile(`(?m)^case \$LEVEL in\n([a-z |]+)\) ;;$`).FindSubmatch(script)
	if levels == nil {
		return fmt.Errorf(".ci/run has no list of its levels")
	}
	if level != "" && !slices.Contains(strings.Split(string(levels[1]), " | "), level) {
		return fmt.Errorf(".ci/run has no level %s", level)
	}
	return nil
}

// testsIn are the tests of a package, or of all below a folder; an error if there
// is no package.
func testsIn(pattern string) (names []string, err error) {
	dir, below := strings.CutSuffix(pattern, "...")
	root := filepath.Join(repository, filepath.FromSlash(dir))
	sources := 0
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && !below:
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		sources++
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declared := range file.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok && f.Recv == nil {
				names = append(names, f.Name.Name)
			}
		}
		return nil
	})
	if err == nil && sources == 0 {
		err = fmt.Errorf("there is no package in %s", dir)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") }), err
}

// TestCheckGoCall shows that the test above finds what it is for.
func TestCheckGoCall(t *testing.T) {
	for text, want := range map[string]string{
		"go test ./...": "",
		"A=b go test ./render -run TestGitSeesNoChange": "",
		"cd a && go generate ./schemas ./cmd/talosgen":  "",
		".ci/run":                                  "",
		"FUZZTIME=1m .ci/run fuzz":                 "",
		".ci/run quick":                            ".ci/run has no level quick",
		"go test ./renderer":                       "no such file",
		"go run ./docs":                            "there is no package in docs",
		"go test ./render -run TestOfNothing":      "no test there fits -run TestOfNothing",
		"go test ./schemas -run 'TestGitSees/dev'": "no test there fits",
	} {
		found, err := checkGoCall(text)
		if found != 1 || fmt.Sprint(err) != "<nil>" && want == "" || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %d found, error %v, want %q", text, found, err, want)
		}
	}
}

// TestOneTestCommand keeps what people are told to run, and what runs before a
// merge, the same command.
func TestOneTestCommand(t *testing.T) {
	const command = "go test -timeout 60m ./..."
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "Taskfile.yml"} {
		if !strings.Contains(readText(t, name), command) {
			t.Errorf("%s does not name %s", name, command)
		}
	}
	// It runs one package before the others, and all of them.
	script := readText(t, ".ci/run")
	for _, call := range []string{
		"local bound=60m",
		`go test [^\n]*-timeout "\$bound" \./cmd/talosgen \|\|`,
		`others=\$\(go list \./\.\.\. \| grep -v /cmd/talosgen\$\) \|\| exit\n`,
		`go test [^\n]*-timeout "\$bound" [^\n]*\$others \|\|`,
	} {
		if !regexp.MustCompile(call).MatchString(script) {
			t.Errorf(".ci/run does not call %s: there is no %s", command, call)
		}
	}
}
