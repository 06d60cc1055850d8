package toolenv

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/talosgen/talosgen/testenv/internal/cache"
	"github.com/talosgen/talosgen/testenv/internal/filelock"
)

// Talosgen returns the path of talosgen itself, built from the source that the test
// lies in. All packages' tests share it: linking it costs more than most of them.
func Talosgen(t testing.TB) string {
	t.Helper()

	file, err := talosgen()
	if err != nil {
		t.Fatal(err)
	}

	return file
}

// talosgen is built once in a process. Go does nothing where the program is there
// already and nothing has changed.
var talosgen = sync.OnceValues(func() (file string, err error) {
	programs, err := cache.Open()
	if err != nil {
		return "", err
	}

	checkout := filepath.Dir(programs.Source)

	if err := watch(checkout); err != nil {
		return "", err
	}

	dir := filepath.Join(programs.Root, fmt.Sprintf("talosgen-%.6x", sha256.Sum256([]byte(checkout))))

	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}

	lock, err := filelock.Wait(dir + ".lock")
	if err != nil {
		return "", err
	}
	defer lock.Close()

	file = filepath.Join(dir, "talosgen")

	build := exec.Command("go", "build", "-o", file, "./cmd/talosgen")
	build.Dir = checkout

	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building talosgen: %w\n%s", err, output)
	}

	return file, nil
})

// watch looks at all that the program is made of. Go repeats the result of a test
// as long as what it has looked at is unchanged, and knows nothing of programs that
// it runs.
func watch(checkout string) error {
	if _, err := os.Stat(filepath.Join(checkout, "go.mod")); err != nil {
		return err
	}

	for _, folder := range []string{"apply", "cmd", "internal", "render", "schemas"} {
		err := filepath.WalkDir(filepath.Join(checkout, folder), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return err
		}
	}

	return nil
}
