package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

// TestProblemLines: what many objects miss is told three times, then counted; nothing else
// is left out.
func TestProblemLines(t *testing.T) {
	misses := func(n int, thing string) *diag.Problem {
		return diag.New(diag.Pos{File: "a.yaml", Line: n, Column: 1}, "Kustomization/%d: spec.sourceRef: there is no %s", n, thing)
	}
	many := func(thing string, from, to int) (all diag.List) {
		for n := from; n <= to; n++ {
			all = append(all, misses(n, thing))
		}
		return all
	}
	const git = "GitRepository/x/x"
	other := diag.New(diag.Pos{File: "b.yaml", Line: 1, Column: 1}, "ConfigMap/x: data: unknown field")
	for _, c := range []struct {
		problems diag.List
		want     string
	}{
		{nil, ""},
		{many(git, 1, 4), "1 2 3 4"},
		{many(git, 1, 5), "1 2 3 +2"},
		{append(append(many(git, 1, 94), other, other), many("Secret/x", 95, 96)...), "1 2 3 +91 b b 95 96"},
	} {
		var got []string
		for _, line := range problemLines(c.problems) {
			place, _, _ := strings.Cut(strings.TrimPrefix(line, "a.yaml:"), ":")
			var more int
			if n, _ := fmt.Sscanf(line, "%d more: there is no "+git+" (-o json has all)", &more); n == 1 {
				place = fmt.Sprintf("+%d", more)
			}
			got = append(got, strings.TrimSuffix(place, ".yaml"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("got %v, want %s", got, c.want)
		}
	}
}
