package main

import (
	"os"
	"testing"
)

// Plans of several environments are measured too.
func TestBenchMany(t *testing.T) {
	if os.Getenv("TALOSGEN_TESTENV_FULL") == "" {
		t.Skip("TALOSGEN_TESTENV_FULL is not set: no program is built and measured")
	}
	t.Chdir("../..")
	if err := bench(1, 2, nil, nil, "", rival{}, t.TempDir()); err != nil {
		t.Fatal(err)
	}
}

// What is measured works: the generated clusters and prod can be rendered.
func TestBench(t *testing.T) {
	if os.Getenv("TALOSGEN_TESTENV_FULL") == "" {
		t.Skip("TALOSGEN_TESTENV_FULL is not set: no program is built and measured")
	}
	t.Chdir("../..") // where prod is
	if err := bench(1, 0, []string{"4"}, []string{"v1.13.9", "v1.14.1"}, "", rival{}, t.TempDir()); err != nil {
		t.Fatal(err)
	}
}
