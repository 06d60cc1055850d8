//go:build linux

package talosenv

import (
	"os"
	"os/exec"
	"testing"
)

// TestPrograms runs the tests of the nodes' own programs. They are a module of
// their own, which needs no other, and which go test ./... does not reach.
func TestPrograms(t *testing.T) {
	command := exec.CommandContext(t.Context(), "go", "test", "./...")
	command.Dir = "../talosnode/node"
	command.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")

	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
