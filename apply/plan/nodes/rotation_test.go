package nodes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
)

// trusting is a configuration that names authorities; without others to accept, the
// section is missing.
func trusting(t testing.TB, role, issuing string, accepted ...string) *nodeconfig.Config {
	t.Helper()
	text := fmt.Sprintf("version: v1alpha1\nmachine:\n    type: %s\n    ca:\n        crt: %s\n", role, issuing)
	if role == "controlplane" {
		text += "        key: key-of-" + issuing + "\n"
	}
	if len(accepted) > 0 {
		text += "    acceptedCAs:\n"
	}
	for _, a := range accepted {
		text += "        - crt: " + a + "\n"
	}
	c, err := nodeconfig.Parse("node", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRotation(t *testing.T) {
	old, accept, issue, done := []string{"a"}, []string{"a", "b"}, []string{"b", "a"}, []string{"b"}
	for _, tt := range []struct {
		name             string
		git, cp, w1, w2  []string // the authority that signs, and those that are accepted; nil: not reached
		want             string   // of the refusals, or the steps
		workersFollowOne bool
	}{
		{"learn", accept, old, old, old, "cp w1 w2", false},
		{"learn without one", accept, old, old, nil, "cp w1", false},
		{"sign", issue, accept, accept, accept, "cp w1 w2", true},
		{"go on signing", issue, issue, accept, issue, "w1", false},
		{"one was missed", issue, accept, accept, old, "w2 does not trust the new authority yet", false},
		{"one is away", issue, accept, accept, nil, "it is not known which authorities w2 trusts", false},
		{"forget", done, issue, issue, issue, "cp w1 w2", false},
		{"forget too early", done, issue, issue, accept, "w2 has certificates of the old authority still", false},
		{"skipped", done, old, old, old, "it is part of the identity of the cluster", false},
		{"back", accept, issue, accept, issue, "cp w2", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var desired nodes.Desired
			observed := nodes.Observed{Known: true}
			for name, has := range map[string][]string{"cp": tt.cp, "w1": tt.w1, "w2": tt.w2} {
				role, talos := nodes.Worker, "worker"
				if name == "cp" {
					role, talos = nodes.ControlPlane, "controlplane"
					observed.Members = []nodes.Member{{ID: "1", Node: "cp", Healthy: true}}
				}
				desired.Nodes = append(desired.Nodes, nodes.Want{Name: name, Role: role, Config: trusting(t, talos, tt.git[0], tt.git[1:]...)})
				n := nodes.Node{Name: name, Role: role, Reach: nodes.Unreachable}
				if has != nil {
					n.Reach, n.Stage, n.Config = nodes.Configured, nodes.StageRunning, trusting(t, talos, has[0], has[1:]...)
				}
				observed.Nodes = append(observed.Nodes, n)
			}
			p, err := nodes.Make(desired, observed, nodes.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			for _, s := range p.Steps {
				steps = append(steps, s.Node)
				if s.Role == nodes.Worker && slices.Contains(s.Needs, plan.Key("configure/cp")) != tt.workersFollowOne {
					t.Errorf("%s needs %v", s.Node, s.Needs)
				}
			}
			if len(p.Refusals) == 0 {
				if got := strings.Join(steps, " "); got != tt.want {
					t.Errorf("steps: %s", got)
				}
				return
			}
			if len(steps) > 0 || !slices.ContainsFunc(p.Refusals, func(r plan.Note) bool { return strings.HasSuffix(r.Text, tt.want) }) {
				t.Errorf("steps %v, refused: %v", steps, p.Refusals)
			}
		})
	}
}
