package main

import (
	"strings"
	"testing"
	"time"
)

// TestSimulatedFluxFollows: what is committed while a simulation runs is what its Flux
// finds. Friction 21.
func TestSimulatedFluxFollows(t *testing.T) {
	r := newGitRepo(t)
	none := strings.Repeat("0", 40)
	head, seldom := &headOf{root: r.root, commit: none}, &headOf{root: r.root, every: time.Hour, commit: none}
	if got := head.now(t.Context()); got != none {
		t.Errorf("before the first commit: %s", got)
	}
	seen := map[string]bool{}
	for _, name := range []string{"first", "second"} {
		r.write(name, name)
		r.git("add", ".")
		r.git("commit", "-qm", name)
		commit, err := gitLine(t.Context(), r.root, "rev-parse", "HEAD")
		if err != nil || seen[commit] {
			t.Fatalf("%s, %v", commit, err)
		}
		seen[commit] = true
		if got := head.now(t.Context()); got != commit {
			t.Errorf("%s: Flux is at %s, not at %s", name, got, commit)
		}
		if got := seldom.now(t.Context()); (got == commit) != (name == "first") {
			t.Errorf("%s: asked again within an hour: %s", name, got)
		}
	}
	flux, err := simulatedFlux(t.Context(), r.root, "dev")
	if err != nil || !seen[strings.TrimPrefix(flux.Revision("main"), "main@sha1:")] {
		t.Errorf("Flux is at %s: %v", flux.Revision("main"), err)
	}
}
