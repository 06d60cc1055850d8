//go:build !linux

package main

import (
	"os/exec"
	"testing"
)

// cell is what only Linux has: examples run there only.
type cell struct{}

func newCell(t *testing.T, _ string, _ ...string) *cell {
	t.Helper()
	t.Fatal("there are cells on Linux only")
	return nil
}

func (*cell) cover(string, string) error       { return nil }
func (*cell) command(string, string) *exec.Cmd { return nil }

func docsCellMain() {}
