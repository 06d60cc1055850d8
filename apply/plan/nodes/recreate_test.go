package nodes_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes"
)

// A node may be made anew while another control plane, that is new, has not joined yet: the
// run lets that join before. One that is away keeps it back.
func TestPlanRecreateAfterJoins(t *testing.T) {
	const others = `
node cp-2 control-plane configured running same
member cp-2 healthy
node cp-3 control-plane configured running same
member cp-3 healthy
`
	for name, c := range map[string]struct{ first, refused string }{
		"all are well":                      {"node cp-1 control-plane configured running same\nmember cp-1 healthy", ""},
		"a new one waits":                   {"node cp-1 control-plane maintenance maintenance same", ""},
		"a new one waits, the old one died": {"node cp-1 control-plane maintenance maintenance same\nmember cp-1 dead", ""},
		"one is away":                       {"node cp-1 control-plane unreachable - same\nmember cp-1 dead", "etcd would have 1 of 2 healthy members, and needs 2"},
	} {
		t.Run(name, func(t *testing.T) {
			s := read(t, c.first+others)
			p, err := nodes.PlanRecreate(s.desired, s.observed, nodes.Policy{Allow: []string{"cp-2"}}, false, "cp-2")
			if err != nil {
				t.Fatal(err)
			}
			var refused []string
			for _, r := range p.Refusals {
				refused = append(refused, r.Text)
			}
			if got := strings.Join(refused, "; "); !strings.Contains(got, c.refused) || c.refused == "" && got != "" {
				t.Errorf("refused: %q, want %q", got, c.refused)
			}
		})
	}
}
