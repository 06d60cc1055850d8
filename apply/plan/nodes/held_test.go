package nodes

import (
	"slices"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
)

// TestHeldLines: what several nodes keep is on one line.
func TestHeldLines(t *testing.T) {
	held := func(node, path, reason string) Held {
		return Held{Node: node, Change: nodeconfig.Change{Path: path, From: "1", To: "2", Class: nodeconfig.Upgrade, Reason: reason}}
	}
	p := Plan{Held: []Held{
		held("cp-1", "a", "waits"), held("cp-1", "b", "waits"),
		held("w-1", "a", "waits"), held("w-2", "a", "waits"), held("w-3", "a", "waits"), held("w-4", "a", "waits"), held("w-5", "a", "is left"),
	}}
	change := func(path string) string { return nodeconfig.Change{Path: path, From: "1", To: "2"}.String() }
	want := []string{
		"cp-1, w-1, w-2 and 2 more: " + change("a") + "  (upgrade: waits)",
		"cp-1: " + change("b") + "  (upgrade: waits)",
		"w-5: " + change("a") + "  (upgrade: is left)",
	}
	if got := p.HeldLines(); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}
