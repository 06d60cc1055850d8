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
	flux, err := simulatedFlux(t.Context(), r.root, "dev")
	if err != nil {
		t.Fatal(err)
	}
	if got := flux.Revision("main"); got != "main@sha1:"+strings.Repeat("0", 40) {
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
		for end := time.Now().Add(time.Minute); flux.Revision("main") != "main@sha1:"+commit; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: Flux is at %s, not at %s", name, flux.Revision("main"), commit)
			}
		}
	}
}
