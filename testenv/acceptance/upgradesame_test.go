//go:build linux

package acceptance

import (
	"maps"
	"slices"
	"testing"
)

// same wants two upgrades to change the same: each configuration of a program on each
// node, and more of what Kubernetes has.
func same(t *testing.T, byTalosgen, byTalosctl map[string]change) {
	t.Helper()
	const least = 100
	if len(byTalosctl) < least {
		t.Errorf("talosctl has changed %d values only", len(byTalosctl))
	}
	places := maps.Clone(byTalosgen)
	maps.Copy(places, byTalosctl)
	for _, place := range slices.Sorted(maps.Keys(places)) {
		mine, other := byTalosgen[place], byTalosctl[place]
		if mine != other {
			t.Errorf("%s: %q -> %q by talosgen, %q -> %q by talosctl", place, mine.before, mine.after, other.before, other.after)
		}
	}
	t.Logf("both have changed %d values alike", len(places))
}
