package main

import (
	"os"
	"testing"
)

// scratch makes a folder for a case of a test that has many. It is in memory, if that can
// be: a render waits until what it writes is on the disk, and nobody wants it there. Who
// makes it removes it.
func scratch() (dir string, err error) { return os.MkdirTemp(memory(), "talosgen-") }

// scratchDir is [scratch] for as long as a test takes.
func scratchDir(t *testing.T) string {
	t.Helper()
	dir, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
