package apply

import (
	"strings"
	"testing"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/schemas"
)

// TestAhead: while the control planes run another minor of Talos than Git has, no
// server is made from Git's image; a patch may differ, and so may workers.
func TestAhead(t *testing.T) {
	infrastructure := schemas.Infrastructure{Servers: []schemas.InfraServer{
		{Name: "demo-1", Role: schemas.RoleControlPlane}, {Name: "demo-worker-1", Role: schemas.RoleWorker}, {Name: "demo-nat", Role: "nat"}}}
	moves := func(from, to string, found int) *nodeplan.Upgrade {
		m := &nodeplan.Move{From: from, To: to, Nodes: 3, ControlPlanes: found}
		if found > 0 {
			m.Oldest = from
		}
		return &nodeplan.Upgrade{Talos: m}
	}
	for name, c := range map[string]struct {
		upgrade *nodeplan.Upgrade
		change  cloudplan.Change
		refused bool
	}{
		"worker":        {moves("1.13.9", "1.14.1", 3), cloudplan.Change{Kind: cloudplan.KindServer, Name: "demo-worker-1", Action: cloudplan.Create}, true},
		"control plane": {moves("1.13.9", "1.14.1", 1), cloudplan.Change{Kind: cloudplan.KindServer, Name: "demo-1", Action: cloudplan.Replace}, true},
		"back":          {moves("1.14.1", "1.13.9", 1), cloudplan.Change{Kind: cloudplan.KindServer, Name: "demo-1", Action: cloudplan.Create}, true},
		"patch":         {moves("1.14.0", "1.14.1", 3), cloudplan.Change{Kind: cloudplan.KindServer, Name: "demo-1", Action: cloudplan.Create}, false},
		"only workers":  {moves("1.13.9", "1.14.1", 0), cloudplan.Change{Kind: cloudplan.KindServer, Name: "demo-worker-1", Action: cloudplan.Create}, false},
		"gateway":       {moves("1.13.9", "1.14.1", 3), cloudplan.Change{Kind: cloudplan.KindServer, Name: "demo-nat", Action: cloudplan.Create}, false},
		"update":        {moves("1.13.9", "1.14.1", 3), cloudplan.Change{Kind: cloudplan.KindServer, Name: "demo-1", Action: cloudplan.Update}, false},
		"Kubernetes":    {&nodeplan.Upgrade{Kubernetes: &nodeplan.Move{From: "1.36.3", To: "1.37.0"}}, cloudplan.Change{Kind: cloudplan.KindServer, Name: "demo-1", Action: cloudplan.Create}, false},
		"a worker is behind, and control planes differ by a patch": {
			&nodeplan.Upgrade{Talos: &nodeplan.Move{From: "1.12.0", To: "1.14.1", Nodes: 2, ControlPlanes: 1, Oldest: "1.14.0"}},
			cloudplan.Change{Kind: cloudplan.KindServer, Name: "demo-1", Action: cloudplan.Create}, false},
		"none": {nil, cloudplan.Change{Kind: cloudplan.KindServer, Name: "demo-1", Action: cloudplan.Create}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c.change.Key = cloudplan.KeyOf(c.change.Kind, c.change.Name)
			refusals := versionSkew(&Plan{Plan: &cloudplan.Plan{Changes: []cloudplan.Change{c.change}}, Nodes: &nodeplan.Plan{Upgrade: c.upgrade}}, infrastructure)
			if (len(refusals) == 1) != c.refused {
				t.Errorf("refused: %v", refusals)
			}
			for _, n := range refusals {
				if n.Key != c.change.Key || !strings.Contains(n.Text, "and the control planes run v1.1") || !strings.Contains(n.Hint, "docs/how-to/upgrade.md") {
					t.Errorf("%+v", n)
				}
			}
		})
	}
}
