//go:build linux

package acceptance

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/talosenv"
)

// user works in a repository.
type user struct {
	t          *testing.T
	bed        *talosenv.Cluster
	repository *talosenv.Repository
	environ    []string // besides what the test has
}

// program builds talosgen, once.
var program = sync.OnceValues(func() (string, error) {
	file := filepath.Join(os.TempDir(), fmt.Sprintf("talosgen-acceptance-%d", os.Getpid()))
	out, err := exec.Command("go", "build", "-o", file, "github.com/talosgen/talosgen/cmd/talosgen").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if err := os.RemoveAll(filepath.Join(os.TempDir(), fmt.Sprintf("talosgen-acceptance-%d", os.Getpid()))); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func build(t *testing.T) string {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// longest is how long a command may take.
const longest = 10 * time.Minute

// talosgen runs a command in the repository, and returns what it prints.
func (u *user) talosgen(args ...string) (output string, err error) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), longest)
	defer cancel()
	var out bytes.Buffer
	command := exec.CommandContext(ctx, build(u.t), append([]string{"-C", u.repository.Root()}, args...)...)
	command.Env = append(os.Environ(), u.environ...)
	command.Stdout, command.Stderr = &out, &out
	begin := time.Now()
	err = command.Run()
	u.t.Logf("$ talosgen %s\n%s(%.0f s, %v)", strings.Join(args, " "), &out, time.Since(begin).Seconds(), err)
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
