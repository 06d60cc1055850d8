package main

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/talosenv"
)

// Comments by which a page says where its examples run.
const (
	// On a machine with nothing but Go and git: they begin in an empty home, and
	// get talosgen the way the page says.
	asNewcomer = "<!-- Examples begin on a machine with nothing but Go and git. -->"
	// With a simulated project in place of one at Hetzner.
	inSimulation = "<!-- Examples run in a simulated project. -->"
	// The same, with what the environment dev of a clone expects there; see
	// [shell.publish].
	inSimulationForDev = "<!-- Examples run in a simulated project for dev. -->"
)

func (p *page) says(comment string) bool {
	return slices.ContainsFunc(p.lines, func(l docLine) bool { return l.text == comment })
}

// projectURL is where a newcomer clones this repository from.
const projectURL = "https://github.com/talosgen/talosgen"

// newcomer makes a session one of somebody who has nothing yet: an empty home,
// where cloning the project gives what is in this work tree. In the full level
// of CI every command runs as it stands there, building talosgen from that
// clone, with no other talosgen in reach. Else, to save the time to link it, the
// program that is tested stands in for what they build.
func newcomer(t *testing.T, s *shell) *shell {
	t.Helper()
	upstream := filepath.Join(filepath.Dir(s.home), "upstream")
	if err := os.Rename(s.dir, upstream); err != nil {
		t.Fatal(err)
	}
	s.dir = s.home
	config := docsIdentity + "[url \"file://" + upstream + "\"]\n\tinsteadOf = " + projectURL + "\n"
	if err := writeFile(filepath.Join(s.home, ".gitconfig"), []byte(config)); err != nil {
		t.Fatal(err)
	}
	if os.Getenv(talosenv.Full) == "" {
		return s
	}
	s.literal = true
	copyWorkTree(t, upstream)
	if out := s.run("cd '" + upstream + "' && git add --all && git commit -q -m all; cd ~"); out != "" {
		t.Fatal(out)
	}
	// What it has set up to here is not the newcomer's.
	for _, name := range []string{".session.env", ".session.dir"} {
		if err := os.Remove(filepath.Join(s.home, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.onlyGo(t)
	return s
}

// copyWorkTree copies what belongs to this repository, committed or not.
func copyWorkTree(t *testing.T, to string) {
	t.Helper()
	out, err := exec.Command("git", "-C", repository, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for _, name := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		file := filepath.Join(repository, filepath.FromSlash(name))
		info, err := os.Lstat(file)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // removed and not committed, or a link
		}
		data, err := os.ReadFile(file)
		if err == nil {
			err = writeFile(filepath.Join(to, filepath.FromSlash(name)), data)
		}
		if err == nil {
			err = os.Chmod(filepath.Join(to, filepath.FromSlash(name)), info.Mode())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// onlyGo puts the session into a cell that has Go and Git, out of reach of the tested
// program, with the modules and the cache of whoever runs the test: a newcomer's are made
// once.
func (s *shell) onlyGo(t *testing.T) {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT", "GOCACHE", "GOMODCACHE").Output()
	dirs := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(dirs) != 3 {
		t.Fatalf("go env: %v", err)
	}
	tested, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.cell = newCell(t, filepath.Dir(s.home), dirs...)
	s.link(t, "docs-editor", tested)
	s.path = strings.Join([]string{"/bin", filepath.Join(dirs[0], "bin")}, string(os.PathListSeparator))
	// The other variables let it use what earlier steps of CI compiled.
	s.env = []string{"GOCACHE=" + dirs[1], "GOMODCACHE=" + dirs[2], "GOPROXY=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false -trimpath"}
}

// command is what a session runs for a command of a page.
func (s *shell) command(text string) string {
	if s.literal {
		return text
	}
	if strings.Contains(text, "go build ") && strings.HasSuffix(text, "-o ~/.local/bin/talosgen ./cmd/talosgen") {
		return `mkdir -p ~/.local/bin && ln -s "$(command -v talosgen)" ~/.local/bin/talosgen`
	}
	return strings.ReplaceAll(text, "go run ./cmd/talosgen", "talosgen")
}

// simulate gives the session a project, with nodes, by the variables that lead
// there, until the test ends.
func (s *shell) simulate(t *testing.T, more ...string) {
	t.Helper()
	cmd := exec.Command("talosgen", append([]string{"sim", "--nodes", "--speed", "0"}, more...)...)
	cmd.Dir = s.dir
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	const variables = 4 // one says that there are nodes
	for range variables {
		if !lines.Scan() {
			t.Fatal("the simulated project does not say where it is")
		}
		s.env = append(s.env, strings.TrimPrefix(lines.Text(), "export "))
	}
}

// publish makes the repository a clone: what is committed is on a branch of its origin.
func (s *shell) publish(t *testing.T) {
	t.Helper()
	if out := s.run("git init -q --bare ../origin.git && git remote add origin ../origin.git && git push -q -u origin main"); out != "" {
		t.Fatal(out)
	}
}

// TestNewcomerHasNothing: Go, Git and a plain shell are all there is.
func TestNewcomerHasNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("examples run on Linux")
	}
	t.Setenv(talosenv.Full, "1")
	s := newcomer(t, newShell(t))
	for _, c := range []struct{ command, want string }{
		{"ls -A", ".gitconfig\n"},
		{"command -v talosgen sops age talosctl kubectl python3 curl gcc ssh", ""},
		{"cat /etc/resolv.conf /etc/ssl/certs/* 2>/dev/null", ""},
		{"ls -A /opt /srv /var 2>/dev/null", ""},
		{"go version | cut -d ' ' -f 1,2", "go version\n"},
		{"git --version | cut -d ' ' -f 1,2", "git version\n"},
	} {
		if out := s.run(c.command); out != c.want {
			t.Errorf("$ %s\nprints\n%s", c.command, out)
		}
	}
}
