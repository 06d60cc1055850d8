package nodes_test

import (
	"slices"
	"strings"
	"testing"
)

// Nodes that are on their way are waited for, and it is said which these are;
// the wait ends with nothing to say.
func TestSettledSays(t *testing.T) {
	w := newWorld(t)
	w.made("cp-1", "w-1")
	m := w.fleet.Machine("w-1")
	m.PowerOff()
	m.PowerOn()
	w.told = nil
	if _, err := w.cluster().Settled(t.Context(), []string{"w-1"}); err != nil {
		t.Error(err)
	}
	said := slices.DeleteFunc(w.told, func(line string) bool { return !strings.HasPrefix(line, "wait for nodes: ") })
	said = slices.Compact(said)
	if !slices.Contains(said, "wait for nodes: w-1 does not answer yet") || said[len(said)-1] != "wait for nodes: " {
		t.Errorf("told: %q", said)
	}
}
