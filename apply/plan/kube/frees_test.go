package kube

import "testing"

// TestFrees: what waited for its kind is made once that is served, and nothing else
// is done on the way.
func TestFrees(t *testing.T) {
	waits := world{desired: thing, unserved: true}.plan(t)
	free := world{desired: thing}.plan(t)
	for name, c := range map[string]struct {
		now, before *Plan
		want        bool
	}{
		"its kind is there":          {free, waits, true},
		"it still waits":             {waits, waits, false},
		"it did not wait":            {free, free, false},
		"something else waited":      {world{desired: config}.plan(t), waits, false},
		"more than that":             {world{desired: thing, more: "{apiVersion: v1, kind: Namespace, metadata: {name: b}}"}.plan(t), waits, false},
		"it must not be made":        {world{desired: config, terminating: true}.plan(t), world{desired: config, noNamespace: true}.plan(t), false},
		"its namespace is there now": {world{desired: config}.plan(t), world{desired: config, noNamespace: true}.plan(t), true},
	} {
		if got := c.now.Frees(c.before); got != c.want {
			t.Errorf("%s: %t\nnow %s\nbefore %s", name, got, c.now, c.before)
		}
	}
}
