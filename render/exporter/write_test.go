package exporter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrite: an export is written whole, for its owner alone, and never into what is
// there.
func TestWrite(t *testing.T) {
	e := &Export{Files: map[string][]byte{"a.yaml": []byte("a: 1\n"), "all/b.yaml": []byte("b: 2\n")}}
	dir := filepath.Join(t.TempDir(), "out")
	if err := e.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{".": 0o700, "a.yaml": 0o600, "all": 0o700, "all/b.yaml": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if err := e.Write(dir); err == nil || !strings.Contains(err.Error(), "is not empty: it has a.yaml") {
		t.Errorf("a second time: %v", err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := e.Write(empty); err != nil {
		t.Errorf("into an empty one: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(empty), ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
