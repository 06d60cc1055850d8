package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// TestWorkflows: GitHub accepts the workflows of this repository, as far as actionlint
// knows; shellcheck is not on every machine, so no line of theirs depends on it.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("../../.github/workflows/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no workflows (%v)", err)
	}
	output, err := exec.Command(toolenv.Actionlint(t), append([]string{"-shellcheck=", "-pyflakes="}, files...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
