package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// exampleSources are the parts of this repository that examples work on.
var exampleSources = []string{".sops.yaml", ".gitattributes", ".gitignore", "envs", "patches", "rendered"}

// exampleFiles reads them, once.
var exampleFiles = sync.OnceValues(func() (files, error) {
	all := files{}
	for _, name := range exampleSources {
		path := filepath.Join(repository, name)
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			all[name] = string(data)
			continue
		}
		below, err := readFiles(path)
		if err != nil {
			return nil, err
		}
		for file, text := range below {
			all[name+"/"+file] = text
		}
	}
	return all, nil
})

// shell is the shell in which the examples of a page run.
type shell struct {
	home    string
	dir     string   // the current directory
	bin     string   // holds links to the real programs that examples use
	env     []string // what it has besides
	path    string   // where it looks for programs last
	literal bool     // commands run as they stand there; see [newcomer]
	over    bool     // one of them is missing: what follows may need what it would have done
	cell    *cell    // where commands run; nil: on this machine
}

// editedFile names the file with what the next editor writes; see [page].
const editedFile = "edited"

func newShell(t *testing.T) *shell {
	t.Helper()
	sources, err := exampleFiles()
	if err != nil {
		t.Fatal(err)
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &shell{
		home: filepath.Join(base, "home"), dir: filepath.Join(base, "home", "talosgen"), bin: filepath.Join(base, "bin"),
		path: os.Getenv("PATH"), env: []string{hurryVariable + "=1"},
	}
	if err := os.Mkdir(s.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := sources.writeMissing(s.dir); err != nil {
		t.Fatal(err)
	}
	if err := writeFile(filepath.Join(s.home, ".gitconfig"), []byte(docsIdentity)); err != nil {
		t.Fatal(err)
	}
	if out := s.run("git init -q && git add --all && git commit -q -m start"); out != "" {
		t.Fatal(out)
	}
	return s
}

// docsIdentity is who commits in examples.
const docsIdentity = "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\tautocrlf = false\n"

// run runs a command as a person would in a terminal, and returns what it
// prints. Variables and the directory that it sets stay for the next one.
func (s *shell) run(command string) string {
	state := filepath.Join(s.home, ".session")
	script := fmt.Sprintf("set -a; [ ! -e '%[1]s.env' ] || . '%[1]s.env'\n%[2]s\nexport -p >'%[1]s.env'; pwd >'%[1]s.dir'", state, command)
	cmd := s.shell(script)
	cmd.Env = append([]string{
		"HOME=" + s.home, "XDG_CONFIG_HOME=" + filepath.Join(s.home, ".config"), "GIT_CONFIG_NOSYSTEM=1",
		"PATH=" + strings.Join([]string{s.bin, filepath.Join(s.home, ".local", "bin"), s.path}, string(os.PathListSeparator)),
		"LC_ALL=C", "TZ=UTC", "EDITOR=docs-editor", editedVariable + "=" + filepath.Join(s.home, editedFile),
	}, s.env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err.Error()
	}
	if dir, err := os.ReadFile(state + ".dir"); err == nil {
		s.dir = strings.TrimSpace(string(dir))
	}
	text := strings.ReplaceAll(string(out), s.home, "~")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// shell runs a script in the current directory.
func (s *shell) shell(script string) *exec.Cmd {
	if s.cell != nil {
		return s.cell.command(s.dir, script)
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = s.dir
	return cmd
}

// link lets examples find a program.
func (s *shell) link(t *testing.T, name, program string) {
	t.Helper()
	path := filepath.Join(s.bin, name)
	if _, err := os.Lstat(path); err == nil {
		return
	}
	link := os.Symlink
	if s.cell != nil {
		link = s.cell.cover
	}
	if err := link(program, path); err != nil {
		t.Fatal(err)
	}
}

// run runs the examples of a page, one after the other.
func (p *page) run(t *testing.T) {
	s := newShell(t)
	if p.says(asNewcomer) {
		s = newcomer(t, s)
	}
	if p.says(inSimulation) {
		s.simulate(t)
	}
	if p.says(inSimulationForDev) {
		s.publish(t)
		s.simulate(t, "--seed", "dev")
	}
	for _, b := range p.blocks {
		t.Run(fmt.Sprintf("line %d", b.line+1), func(t *testing.T) {
			if s.over {
				t.Skip("a program that this page uses is missing")
			}
			if b.language == "console" {
				s.findTools(t, b)
				s.runBlock(t, b)
				return
			}
			if err := s.write(b); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func (s *shell) runBlock(t *testing.T, b *block) {
	all := b.examples()
	for i, e := range all {
		printed := s.run(s.command(e.command))
		switch {
		case e.matches(printed):
		case *update && !strings.Contains(printed, "internal error"):
			all[i].want = shorten(printed)
		default:
			t.Errorf("$ %s\nprints:\n%s", e.command, printed)
		}
	}
	b.set(all)
}

// write writes or changes the file that a block is about.
func (s *shell) write(b *block) error {
	file, isDiff := b.target()
	if file == "" {
		return nil
	}
	path := filepath.Join(s.dir, filepath.FromSlash(file))
	switch {
	case isDiff && file == "secrets.sops.yaml":
		return writeFile(filepath.Join(s.home, editedFile), []byte(strings.Join(b.lines, "\n")))
	case isDiff:
		old, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		now, err := b.patch(string(old))
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(now), 0o644)
	}
	return writeFile(path, []byte(strings.Join(b.lines[1:], "\n")+"\n"))
}

// editedVariable names, for the editor of a page, the file with the change.
const editedVariable = "TALOSGEN_TEST_EDIT"

// docsEditorMain is the editor that makes the change that a page shows.
func docsEditorMain() {
	if err := editAsShown(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func editAsShown(file string) error {
	change, err := os.ReadFile(os.Getenv(editedVariable))
	if err != nil {
		return err
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	now, err := (&block{lines: strings.Split(string(change), "\n")}).patch(string(old))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(now), 0o600)
}

var toolUse = regexp.MustCompile(`(?:^|[|;(&] *|= *)(sops|age-keygen|talosctl|curl) `)

// findTools links the real programs that a block uses. Without them the rest of
// the page is skipped.
func (s *shell) findTools(t *testing.T, b *block) {
	t.Helper()
	find := map[string]func() string{
		"sops":       func() string { return toolenv.Sops(t) },
		"age-keygen": func() string { return toolenv.AgeKeygen(t) },
		"talosctl":   func() string { return toolenv.Talosctl(t, "1.14") },
	}
	s.over = true
	for _, e := range b.examples() {
		for _, use := range toolUse.FindAllStringSubmatch(e.command, -1) {
			if find[use[1]] == nil { // one that a machine has, or not
				needs(t, use[1])
				continue
			}
			s.link(t, use[1], find[use[1]]())
		}
	}
	s.over = false
}
