package upgrade_test

import (
	"slices"
	"testing"

	"github.com/talosgen/talosgen/apply/internal/node"
)

// TestRebootMode: nodes boot what was installed in the way that was asked for, by the call
// of each version.
func TestRebootMode(t *testing.T) {
	for mode, want := range map[node.RebootMode]string{"": "DEFAULT", "default": "DEFAULT", node.PowerCycle: "POWERCYCLE"} {
		w := newWorld(t, map[string]string{"cp-1": "v1.13.9", "w-1": "v1.12.11"})
		w.up.RebootMode = mode
		w.up.Policy.Allow = append(w.up.Policy.Allow, "C-single")
		w.must(w.run(t.Context()))
		w.done()
		for name, count := range map[string]int{"cp-1": 1, "w-1": 2} {
			if got := w.fleet.Machine(name).Reboots(); !slices.Equal(got, slices.Repeat([]string{want}, count)) {
				t.Errorf("%q: %s rebooted %v", mode, name, got)
			}
		}
	}
}
