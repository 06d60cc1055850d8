//go:build linux

package talosenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// program builds talosgen, once.
var program = sync.OnceValues(func() (string, error) {
	file := filepath.Join(os.TempDir(), fmt.Sprintf("talosgen-%d", os.Getpid()))

	output, err := exec.Command("go", "build", "-o", file, "github.com/talosgen/talosgen/cmd/talosgen").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, output)
	}

	return file, nil
})

func TestMain(m *testing.M) {
	code := m.Run()

	if err := os.RemoveAll(filepath.Join(os.TempDir(), fmt.Sprintf("talosgen-%d", os.Getpid()))); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}

	os.Exit(code)
}

// newRepository is one with the talosgen of this source.
func newRepository(t *testing.T, c *Cluster) *Repository {
	t.Helper()

	file, err := program()
	if err != nil {
		t.Fatal(err)
	}

	return c.NewRepository(t, file)
}
