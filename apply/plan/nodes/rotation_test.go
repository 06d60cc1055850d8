package nodes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
)

// shapes are how configurations name authorities of a kind, in each contract; without
// others to accept, the section is missing. Lists are indented by each.
var shapes = map[string]func(role, issuing string, accepted []string) string{
	"talos": func(role, issuing string, accepted []string) string {
		return "machine:\n    type: " + role + "\n    ca: {crt: " + issuing + keyOf(role, issuing) + "}\n" + list("    acceptedCAs:", "        - crt: ", accepted)
	},
	"kubernetes": func(role, issuing string, accepted []string) string {
		return "machine: {type: " + role + "}\ncluster:\n    ca: {crt: " + issuing + keyOf(role, issuing) + "}\n" + list("    acceptedCAs:", "        - crt: ", accepted)
	},
	"kubernetes 1.14": func(role, issuing string, accepted []string) string {
		text := "machine: {type: " + role + "}\n---\napiVersion: v1alpha1\nkind: KubeAPIServerCAConfig\n"
		if role == "worker" {
			return text + list("acceptedCAs:", "    - ", append([]string{issuing}, accepted...))
		}
		return text + "issuingCA: {cert: " + issuing + keyOf(role, issuing) + "}\n" + list("acceptedCAs:", "    - ", accepted)
	},
	"service account": func(role, issuing string, accepted []string) string {
		text := "machine: {type: " + role + "}\n"
		if role == "worker" {
			return text
		}
		return text + "---\napiVersion: v1alpha1\nkind: KubeServiceAccountConfig\nissuer: {privateKey: " + issuing + "}\n" + list("accepted:\n    publicKeys:", "        - ", accepted)
	},
}

func keyOf(role, issuing string) string {
	if role == "worker" {
		return ""
	}
	return ", key: key-of-" + issuing
}

func list(head, item string, values []string) string {
	if len(values) == 0 {
		return ""
	}
	return head + "\n" + item + strings.Join(values, "\n"+item) + "\n"
}

// trusting is a configuration that names authorities.
func trusting(t testing.TB, shape, role, issuing string, accepted ...string) *nodeconfig.Config {
	t.Helper()
	c, err := nodeconfig.Parse("node", []byte("version: v1alpha1\n"+shapes[shape](role, issuing, accepted)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRotation(t *testing.T) {
	for shape := range shapes {
		t.Run(shape, func(t *testing.T) { testRotation(t, shape) })
	}
}

// testRotation takes nodes through phases. Workers restart nothing, and so they go first
// where control planes restart their pods. The service account key is none of theirs:
// there all three are control planes.
func testRotation(t *testing.T, shape string) {
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
			if tt.name == "learn without one" && shape == "service account" {
				t.Skip("a control plane that is away keeps the others from restarting")
			}
			var desired nodes.Desired
			observed := nodes.Observed{Known: true}
			for name, has := range map[string][]string{"cp": tt.cp, "w1": tt.w1, "w2": tt.w2} {
				role, talos := nodes.Worker, "worker"
				if name == "cp" || shape == "service account" {
					role, talos = nodes.ControlPlane, "controlplane"
					observed.Members = append(observed.Members, nodes.Member{ID: name, Node: name, Healthy: true})
				}
				desired.Nodes = append(desired.Nodes, nodes.Want{Name: name, Role: role, Config: trusting(t, shape, talos, tt.git[0], tt.git[1:]...)})
				n := nodes.Node{Name: name, Role: role, Reach: nodes.Unreachable}
				if has != nil {
					n.Reach, n.Stage, n.Config = nodes.Configured, nodes.StageRunning, trusting(t, shape, talos, has[0], has[1:]...)
				}
				observed.Nodes = append(observed.Nodes, n)
			}
			p, err := nodes.Make(desired, observed, nodes.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			for _, s := range p.Steps {
				if s.Action == nodes.Configure {
					steps = append(steps, s.Node)
				}
				if shape == "talos" && s.Role == nodes.Worker && slices.Contains(s.Needs, plan.Key("configure/cp")) != tt.workersFollowOne {
					t.Errorf("%s needs %v", s.Node, s.Needs)
				}
			}
			if len(p.Refusals) == 0 {
				want := tt.want
				if after, first := strings.CutPrefix(want, "cp "); first && strings.HasPrefix(shape, "kubernetes") {
					want = after + " cp"
				}
				if got := strings.Join(steps, " "); got != want {
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
