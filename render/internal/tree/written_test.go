package tree

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWritten reads the files that are as the lock says, and no other.
func TestWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dev")
	files := []File{{"a.yaml", []byte("a\n")}, {"b/c.yaml", []byte("c\n")}, {"d.yaml", []byte("d\n")}, {"e.yaml", []byte("e\n")}}
	lock := lockOf(t, "1.0.0", files)
	if _, err := Write(dir, files, lock); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("other\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "foreign.yaml"), []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "d.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "e.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("b/c.yaml", filepath.Join(dir, "e.yaml")); err != nil {
		t.Fatal(err)
	}
	w, err := OpenWritten(dir, lock)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for file, want := range map[string]string{"a.yaml": "", "b/c.yaml": "c\n", "d.yaml": "", "e.yaml": "", "foreign.yaml": "", "no.yaml": ""} {
		got, as := w.File(file)
		if as != (want != "") || string(got.Data) != want || as && got.Path != file {
			t.Errorf("%s is %q, as the lock says: %t", file, got.Data, as)
		}
	}
	if _, err := OpenWritten(filepath.Join(dir, "no"), lock); err == nil {
		t.Error("a tree that is not there was opened")
	}
}
