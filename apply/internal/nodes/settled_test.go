package nodes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/talosgen/talosgen/apply/internal/nodes"
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

// TestSettledWithoutServer: a node that a killed run may have sent its configuration is
// waited for while it may come, and not if its server is off, or gone.
func TestSettledWithoutServer(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*nodes.Machine)
		waits  bool
	}{
		"it may reboot": {change: func(*nodes.Machine) {}, waits: true},
		"it is off":     {change: func(m *nodes.Machine) { m.Server = "off" }},
		"it is gone":    {change: func(m *nodes.Machine) { m.Address, m.Unknown = "", "there is no server" }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.made("cp-1")
				w.buy("w-1")
				w.fleet.Machine("w-1").PowerOff()
				c := w.cluster()
				i := slices.IndexFunc(c.Machines, func(m nodes.Machine) bool { return m.Name == "w-1" })
				if err := c.Records.Sending(t.Context(), c.Machines[i], strings.Repeat("a", 52)); err != nil {
					t.Fatal(err)
				}
				c.Machines = slices.Clone(c.Machines)
				tt.change(&c.Machines[i])
				begun := c.Clock.Now()
				if _, err := c.Settled(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				if waited := c.Clock.Now().Sub(begun); waited >= c.Patience.Settle != tt.waits {
					t.Errorf("it was waited for %v", waited)
				}
			})
		})
	}
}
