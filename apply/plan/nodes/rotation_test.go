package nodes_test

import (
	"maps"
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

func init() {
	shapes["encryption key"] = func(role, issuing string, accepted []string) string {
		text := "machine: {type: " + role + "}\n"
		if role == "worker" {
			return text
		}
		return text + "---\napiVersion: v1alpha1\nkind: KubeEtcdEncryptionConfig\nconfig:\n    resources:\n        - resources: [secrets]\n          providers:\n            - secretbox:\n" +
			list("                keys:", "                    - ", named(append([]string{issuing}, accepted...)))
	}
}

// named are keys with names.
func named(keys []string) (all []string) {
	for _, k := range keys {
		all = append(all, "{name: name-of-"+k+", secret: k"+k+"}")
	}
	return all
}

// ofKeys are the words for keys, of which no node has certificates.
var ofKeys = map[string]string{
	"w2 does not trust the new authority yet":        "w2 cannot read what the new key encrypts yet",
	"it is not known which authorities w2 trusts":    "it is not known which keys w2 has",
	"w2 has certificates of the old authority still": "w2 encrypts with the old key still",
	"it is part of the identity of the cluster":      "what is encrypted with the old key could not be read any more",
}

// ofControlPlanes reports whether workers have no part in what a shape is of.
func ofControlPlanes(shape string) bool {
	return shape == "service account" || shape == "encryption key"
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
		{"learn", accept, old, old, old, "cp w1 w2", true},
		{"learn without one", accept, old, old, nil, "cp w1", true},
		{"go on learning", accept, accept, old, accept, "w1", false},
		{"sign", issue, accept, accept, accept, "cp w1 w2", true},
		{"go on signing", issue, issue, accept, issue, "w1", false},
		{"one was missed", issue, accept, accept, old, "w2 does not trust the new authority yet", false},
		{"one is away", issue, accept, accept, nil, "it is not known which authorities w2 trusts", false},
		{"forget", done, issue, issue, issue, "cp w1 w2", true},
		{"forget too early", done, issue, issue, accept, "w2 has certificates of the old authority still", false},
		{"skipped", done, old, old, old, "it is part of the identity of the cluster", false},
		{"back", accept, issue, accept, issue, "cp w2", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "learn without one" && ofControlPlanes(shape) {
				t.Skip("a control plane that is away keeps the others from restarting")
			}
			var desired nodes.Desired
			observed := nodes.Observed{Known: true}
			for name, has := range map[string][]string{"cp": tt.cp, "w1": tt.w1, "w2": tt.w2} {
				role, talos := nodes.Worker, "worker"
				if name == "cp" || ofControlPlanes(shape) {
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
			if words, known := ofKeys[tt.want]; known && shape == "encryption key" {
				tt.want = words
			}
			if len(steps) > 0 || !slices.ContainsFunc(p.Refusals, func(r plan.Note) bool { return strings.HasSuffix(r.Text, tt.want) }) {
				t.Errorf("steps %v, refused: %v", steps, p.Refusals)
			}
		})
	}
}

// TestRewriteBeforeForgetting: before the first API server loses a key all Secrets are
// written again, once; without that nothing is planned that loses one.
func TestRewriteBeforeForgetting(t *testing.T) {
	for _, tt := range []struct {
		name    string
		git     []string
		has     [2][]string
		mode    nodes.Mode
		want    string
		refused string
	}{
		{"learn", []string{"a", "b"}, [2][]string{{"a"}, {"a"}}, "", "health cluster, configure c1, health c1, configure c2, health c2", ""},
		{"encrypt", []string{"b", "a"}, [2][]string{{"a", "b"}, {"a", "b"}}, "", "health cluster, configure c1, health c1, configure c2, health c2", ""},
		{"forget", []string{"b"}, [2][]string{{"b", "a"}, {"b", "a"}}, "", "health cluster, rewrite-secrets cluster, configure c1, health c1, configure c2, health c2", ""},
		{"go on forgetting", []string{"b"}, [2][]string{{"b"}, {"b", "a"}}, "", "health cluster, rewrite-secrets cluster, configure c2, health c2", ""},
		{"forget with the next boot", []string{"b"}, [2][]string{{"b", "a"}, {"b", "a"}}, nodes.Staged, "", "it is to lose a key that Secrets may be stored with"},
		{"learn with the next boot", []string{"a", "b"}, [2][]string{{"a"}, {"a"}}, nodes.Staged, "stage c1, stage c2", ""},
		{"another one goes", []string{"a"}, [2][]string{{"a", "c"}, {"a", "c"}}, "", "health cluster, rewrite-secrets cluster, configure c1, health c1, configure c2, health c2", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var desired nodes.Desired
			observed := nodes.Observed{Known: true}
			for i, name := range []string{"c1", "c2"} {
				observed.Members = append(observed.Members, nodes.Member{ID: name, Node: name, Healthy: true})
				desired.Nodes = append(desired.Nodes, nodes.Want{Name: name, Role: nodes.ControlPlane, Config: trusting(t, "encryption key", "controlplane", tt.git[0], tt.git[1:]...)})
				observed.Nodes = append(observed.Nodes, nodes.Node{Name: name, Role: nodes.ControlPlane, Reach: nodes.Configured, Stage: nodes.StageRunning,
					Config: trusting(t, "encryption key", "controlplane", tt.has[i][0], tt.has[i][1:]...)})
			}
			p, err := nodes.Make(desired, observed, nodes.Policy{Mode: tt.mode})
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			last := map[plan.Key]bool{}
			for _, s := range p.Steps {
				steps = append(steps, string(s.Action)+" "+s.Node)
				for _, need := range s.Needs {
					if !last[need] {
						t.Errorf("%s comes before %s", s.Key, need)
					}
				}
				last[s.Key] = true
			}
			if got := strings.Join(steps, ", "); got != tt.want {
				t.Errorf("steps: %s", got)
			}
			if refused := len(p.Refusals) > 0; refused != (tt.refused != "") || refused && p.Refusals[0].Text != tt.refused {
				t.Errorf("refused: %v", p.Refusals)
			}
		})
	}
}

// TestMachineToken: control planes get another token first, and nobody does while a
// worker is away, or all control planes are.
func TestMachineToken(t *testing.T) {
	const first, away = "w1 needs c1 c2, w2 needs c1 c2", "w2 is not reached, and would get no certificate any more"
	for _, tt := range []struct {
		name    string
		has     map[string]string // by node; empty: it is not reached
		talos   string
		want    string
		refused string
	}{
		{"all", map[string]string{"c1": "a", "c2": "a", "w1": "a", "w2": "a"}, "v1.14.1", "c1, c2, " + first, ""},
		{"go on", map[string]string{"c1": "b", "c2": "a", "w1": "a", "w2": "b"}, "v1.14.1", "c2, w1 needs c2", ""},
		{"workers are left", map[string]string{"c1": "b", "c2": "b", "w1": "a", "w2": "b"}, "v1.14.1", "w1", ""},
		{"a worker is away", map[string]string{"c1": "a", "c2": "a", "w1": "a", "w2": ""}, "v1.14.1", "w1", away},
		{"and the others are left", map[string]string{"c1": "b", "c2": "b", "w1": "a", "w2": ""}, "v1.14.1", "w1", ""},
		{"one that the autoscaler made is", map[string]string{"c1": "a", "c2": "a", "w1": "a", "auto": ""}, "v1.14.1", "c1, c2, w1 needs c1 c2", ""},
		{"a control plane is away", map[string]string{"c1": "a", "c2": "", "w1": "a"}, "v1.14.1", "c1, w1 needs c1", ""},
		{"all are", map[string]string{"c1": "", "c2": "", "w1": "a"}, "v1.14.1", "", "no control plane is reached that would take it"},
		{"Talos 1.13 reboots for it", map[string]string{"c1": "a", "w1": "a"}, "v1.13.9", "c1 reboots, w1 reboots", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var desired nodes.Desired
			observed := nodes.Observed{Known: true}
			for _, name := range slices.Sorted(maps.Keys(tt.has)) {
				role, talos := nodes.Worker, "worker"
				if name[0] == 'c' {
					role, talos = nodes.ControlPlane, "controlplane"
					observed.Members = append(observed.Members, nodes.Member{ID: name, Node: name, Healthy: true})
				}
				config := func(token string) *nodeconfig.Config {
					c, err := nodeconfig.Parse("node", []byte("version: v1alpha1\nmachine:\n    type: "+talos+"\n    token: "+token+"\n"))
					if err != nil {
						t.Fatal(err)
					}
					return c
				}
				desired.Nodes = append(desired.Nodes, nodes.Want{Name: name, Role: role, Autoscaled: name == "auto", Config: config("b")})
				n := nodes.Node{Name: name, Role: role, Reach: nodes.Unreachable}
				if has := tt.has[name]; has != "" {
					n.Reach, n.Stage, n.Talos, n.Config = nodes.Configured, nodes.StageRunning, tt.talos, config(has)
				}
				observed.Nodes = append(observed.Nodes, n)
			}
			p, err := nodes.Make(desired, observed, nodes.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			var steps []string
			for _, s := range p.Steps {
				switch {
				case s.Action == nodes.Reboot:
					steps = append(steps, s.Node+" reboots")
				case s.Action == nodes.Configure && len(s.Needs) > 0:
					var needs []string
					for _, need := range s.Needs {
						needs = append(needs, strings.TrimPrefix(string(need), "configure/"))
					}
					steps = append(steps, s.Node+" needs "+strings.Join(needs, " "))
				case s.Action == nodes.Configure:
					steps = append(steps, s.Node)
				}
			}
			if got := strings.Join(steps, ", "); got != tt.want {
				t.Errorf("steps: %s", got)
			}
			if refused := len(p.Refusals) > 0; refused != (tt.refused != "") || refused && !strings.HasSuffix(p.Refusals[0].Text, tt.refused) {
				t.Errorf("refused: %v", p.Refusals)
			}
		})
	}
}
