package main

import (
	"testing"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// A new user's first render and first cluster go through, with nothing in the home.
func TestFirst(t *testing.T) {
	n := newcomer{checkout: "../..", binary: toolenv.Talosgen(t), home: t.TempDir()}
	for run := range 2 {
		for i, step := range []func(int) (sample, error){n.initialise, n.sync, n.render} {
			if s, err := step(run); err != nil || s.cpu <= 0 {
				t.Fatalf("run %d, step %d: %+v, %v", run, i, s, err)
			}
		}
	}
	if s, err := n.try(0); err != nil || s.cpu <= 0 {
		t.Errorf("try: %+v, %v", s, err)
	}
}
