//go:build linux

package acceptance

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/talosenv"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// user works in a repository.
type user struct {
	t          *testing.T
	bed        *talosenv.Cluster
	repository *talosenv.Repository
	environ    []string          // besides what the test has
	tell       func(text string) // is told what programs print; may be nil
}

// longest is how long a command may take.
const longest = 10 * time.Minute

// talosgen runs a command in the repository, and returns what it prints.
func (u *user) talosgen(args ...string) (output string, err error) {
	u.t.Helper()
	return u.run(longest, exec.Command(toolenv.Talosgen(u.t), append([]string{"-C", u.repository.Root()}, args...)...), "talosgen "+strings.Join(args, " "))
}

// kill runs a command that is killed after a while, unless it has ended.
func (u *user) kill(after time.Duration, args ...string) {
	u.t.Helper()
	_, _ = u.run(after, exec.Command(toolenv.Talosgen(u.t), append([]string{"-C", u.repository.Root()}, args...)...), "talosgen "+strings.Join(args, " "))
}

// shell runs a command line in the repository.
func (u *user) shell(line string) (output string, err error) {
	u.t.Helper()
	return u.run(longest, exec.Command("sh", "-c", line), line)
}

// run runs a program in the repository, with talosgen in its path, and returns what
// it prints. It is killed if it takes too long; after the longest time, with its stacks.
func (u *user) run(within time.Duration, program *exec.Cmd, shown string) (output string, err error) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), within)
	defer cancel()
	var out bytes.Buffer
	command := exec.CommandContext(ctx, program.Path, program.Args[1:]...)
	command.Dir = u.repository.Root()
	command.Env = slices.Concat(os.Environ(), u.repository.Environ(), u.environ, []string{"PATH=" + filepath.Dir(toolenv.Talosgen(u.t)) + ":" + os.Getenv("PATH")})
	command.Stdout, command.Stderr = &out, &out
	if within == longest { // it hangs: what it waits for stands in its stacks
		command.Cancel, command.WaitDelay = func() error { return command.Process.Signal(syscall.SIGQUIT) }, 10*time.Second
	}
	begin := time.Now()
	err = command.Run()
	u.t.Logf("$ %s\n%s(%.0f s, %v)", shown, &out, time.Since(begin).Seconds(), err)
	if u.tell != nil {
		u.tell(out.String())
	}
	return out.String(), err
}

// must runs a command that has to succeed.
func (u *user) must(args ...string) string {
	u.t.Helper()
	output, err := u.talosgen(args...)
	if err != nil {
		u.t.Fatal(err)
	}
	return output
}

// contains wants texts in what a command has printed.
func (u *user) contains(output string, want ...string) {
	u.t.Helper()
	for _, text := range want {
		if !strings.Contains(output, text) {
			u.t.Errorf("the output does not have %q", text)
		}
	}
}
