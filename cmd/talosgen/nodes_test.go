package main

import (
	"io"
	"path/filepath"
	"slices"
	"testing"
)

// Snapshots of one second do not replace each other, nor end a run.
func TestKeepBeside(t *testing.T) {
	dir := t.TempDir()
	keep := keepBeside(dir)
	for range 3 {
		if _, err := keep("demo-etcd-20261123T101010Z.db.age", func(w io.Writer) error { _, err := w.Write([]byte("x")); return err }); err != nil {
			t.Fatal(err)
		}
	}
	got, err := filepath.Glob(filepath.Join(dir, "*"))
	want := []string{"demo-etcd-20261123T101010Z-2.db.age", "demo-etcd-20261123T101010Z-3.db.age", "demo-etcd-20261123T101010Z.db.age"}
	for i := range got {
		got[i] = filepath.Base(got[i])
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("there are %q, %v", got, err)
	}
}
