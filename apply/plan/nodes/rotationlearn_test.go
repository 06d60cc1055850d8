package nodes_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes"
)

// TestWorkersLearnFromAll: a worker learns whom to trust at the Talos API from the control
// plane that signs its certificate, which may be any: none must be behind.
func TestWorkersLearnFromAll(t *testing.T) {
	for _, tt := range []struct{ name, shape, c2, want string }{
		{"all are there", "talos", "old", "c1, c2, w needs c1 c2"},
		{"one is away", "talos", "", "w: the next phase of the rotation of the authority of the Talos API is too early: c2 is not reached, and workers learn from control planes whom to trust, c1"},
		{"one is new", "talos", "new", "c1, w needs c1"},
		{"of Kubernetes each learns by itself", "kubernetes", "", "w"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var desired nodes.Desired
			observed := nodes.Observed{Known: true}
			for _, name := range []string{"c1", "c2", "w"} {
				role, talos := nodes.ControlPlane, "controlplane"
				if name == "w" {
					role, talos = nodes.Worker, "worker"
				}
				desired.Nodes = append(desired.Nodes, nodes.Want{Name: name, Role: role, Config: trusting(t, tt.shape, talos, "a", "b")})
				n := nodes.Node{Name: name, Role: role, Reach: nodes.Configured, Stage: nodes.StageRunning, Config: trusting(t, tt.shape, talos, "a")}
				switch {
				case name != "c2":
				case tt.c2 == "":
					n = nodes.Node{Name: name, Role: role, Reach: nodes.Unreachable}
				case tt.c2 == "new":
					n = nodes.Node{Name: name, Role: role, Reach: nodes.Maintenance}
				}
				if role == nodes.ControlPlane && n.Reach != nodes.Maintenance {
					observed.Members = append(observed.Members, nodes.Member{ID: name, Node: name, Healthy: n.Reach == nodes.Configured})
				}
				observed.Nodes = append(observed.Nodes, n)
			}
			p, err := nodes.Make(desired, observed, nodes.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range p.Refusals {
				if name, isNode := strings.CutPrefix(string(r.Key), "node/"); isNode && name == "w" {
					got = append(got, name+": "+r.Text)
				}
			}
			for _, s := range p.Steps {
				if s.Action == nodes.Configure && len(s.Changes) > 0 {
					got = append(got, s.Node+needed(s))
				}
			}
			if text := strings.Join(got, ", "); text != tt.want {
				t.Errorf("got %s\nrefused %v", text, p.Refusals)
			}
		})
	}
}

// needed names the nodes whose configuration a step waits for.
func needed(s nodes.Step) (text string) {
	for _, key := range s.Needs {
		if name, configures := strings.CutPrefix(string(key), "configure/"); configures {
			text += " " + name
		}
	}
	if text != "" {
		text = " needs" + text
	}
	return text
}
