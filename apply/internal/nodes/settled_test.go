package nodes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// Nodes that are on their way are waited for, and it is said which these are;
// the wait ends with nothing to say.
func TestSettledSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
	})
}

// Of many nodes the first few are named.
func TestSettledSaysFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n, want := range map[int]string{
			6: "w-1 does not answer yet, w-2 does not answer yet, w-3 does not answer yet, w-4 does not answer yet, w-5 does not answer yet, w-6 does not answer yet",
			8: "w-1 does not answer yet, w-2 does not answer yet, w-3 does not answer yet, w-4 does not answer yet, w-5 does not answer yet, and 3 more",
		} {
			w := newWorld(t)
			var names []string
			for i := range n {
				names = append(names, fmt.Sprintf("w-%d", i+1))
				w.buy(names[i])
				w.fleet.Machine(names[i]).PowerOff()
			}
			if _, err := w.cluster().Settled(t.Context(), names); err != nil {
				t.Error(err)
			}
			if !slices.Contains(w.told, "wait for nodes: "+want) {
				t.Errorf("%d nodes: told %q", n, slices.Compact(w.told))
			}
		}
	})
}
