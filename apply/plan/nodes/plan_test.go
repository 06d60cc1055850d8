package nodes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/casetest"
)

const running = `version: v1alpha1
machine:
    token: CANARYCANARY
    type: %s
    kubelet:
        image: ghcr.io/siderolabs/kubelet:v1.35.0
    sysctls:
        vm.swappiness: "10"
cluster:
    apiServer:
        certSANs:
            - 10.0.64.254
`

// changes are what Git has instead, by the class that they have.
var changes = map[string]func(string) string{
	"same":     func(s string) string { return s },
	"harmless": func(s string) string { return strings.Replace(s, `"10"`, `"60"`, 1) },
	"restart":  func(s string) string { return s + "            - api.example.com\n" },
	"reboot":   func(s string) string { return strings.Replace(s, "    sysctls:", "    udev: {}\n    sysctls:", 1) },
	"version":  func(s string) string { return strings.Replace(s, "v1.35.0", "v1.36.0", 1) },
	"refused":  func(s string) string { return s + "    network:\n        podSubnets:\n            - 10.0.0.0/8\n" },
	"secret":   func(s string) string { return strings.Replace(s, "CANARYCANARY", "OTHERCANARY", 1) },
}

// situation is a case, read from lines:
//
//	node cp-1 control-plane configured running harmless [unregistered|drained|autoscaled]
//	member cp-1 healthy|dead|learning
//	unknown
//	policy mode=auto parallel=2 allow=cp-3 only=cp-1,w-1
//	take-out|wipe-out|reset-all cp-3 w-1
//
// A node whose change is "gone" is not in the tree.
type situation struct {
	desired  nodes.Desired
	observed nodes.Observed
	policy   nodes.Policy
	// What is planned besides what the tree says, and for which nodes.
	how   string
	names []string
}

func (s situation) plan() (*nodes.Plan, error) {
	switch s.how {
	case "take-out", "wipe-out":
		return nodes.PlanRemoval(s.desired, s.observed, s.policy, s.how == "wipe-out", s.names...)
	case "reset-all":
		return nodes.ResetAll(s.desired, s.observed, s.policy, s.names...), nil
	}
	return nodes.Make(s.desired, s.observed, s.policy)
}

func read(t *testing.T, text string) situation {
	t.Helper()
	s := situation{desired: nodes.Desired{Cluster: "prod"}, observed: nodes.Observed{Known: true, Running: nodeconfig.Running{Kubernetes: "v1.35.0"}}}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == "node":
			s.node(t, f[1:])
		case f[0] == "member":
			s.observed.Members = append(s.observed.Members, nodes.Member{
				ID: "id-of-" + f[1], Node: f[1], Healthy: f[2] != "dead", Learner: f[2] == "learning"})
		case f[0] == "take-out", f[0] == "wipe-out", f[0] == "reset-all":
			s.how, s.names = f[0], f[1:]
		case f[0] == "unknown":
			s.observed.Known = false
		case f[0] == "policy":
			for _, p := range f[1:] {
				name, value, _ := strings.Cut(p, "=")
				switch name {
				case "mode":
					s.policy.Mode = nodes.Mode(value)
				case "parallel":
					_, _ = fmt.Sscan(value, &s.policy.MaxParallel)
				case "only":
					s.policy.Only = strings.Split(value, ",")
				case "allow":
					s.policy.Allow = append(s.policy.Allow, value)
				}
			}
		default:
			t.Fatalf("what is %q?", line)
		}
	}
	return s
}

func (s *situation) node(t *testing.T, f []string) {
	t.Helper()
	n := nodes.Node{Name: f[0], Role: f[1], Reach: nodes.Reach(f[2]), Stage: f[3], BootID: "boot", ConfigVersion: "1",
		Registered: f[2] != "maintenance" && (len(f) < 6 || f[5] != "unregistered"), Drained: len(f) > 5 && f[5] == "drained"}
	text := fmt.Sprintf(running, n.Role)
	if n.Reach == nodes.Configured {
		n.Config = config(t, text)
	}
	s.observed.Nodes = append(s.observed.Nodes, n)
	if f[4] == "gone" {
		return
	}
	role := n.Role
	if f[4] == "role" {
		role, f[4] = nodes.Worker, "same"
	}
	s.desired.Nodes = append(s.desired.Nodes, nodes.Want{Name: n.Name, Role: role, Config: config(t, changes[f[4]](text)), Autoscaled: len(f) > 5 && f[5] == "autoscaled"})
}

func config(t *testing.T, text string) *nodeconfig.Config {
	t.Helper()
	c, err := nodeconfig.Parse("rendered", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPlans(t *testing.T) {
	casetest.RunOne(t, "testdata/plans/*.txtar", "plan", func(t *testing.T, c casetest.Case) string {
		s := read(t, string(c.First()))
		p, err := s.plan()
		if err != nil {
			t.Fatal(err)
		}
		got := p.String()
		encoded, err := plan.Encode(p)
		if all := fmt.Sprintf("%s %s %+v %#v", got, encoded, *p, p); err != nil || strings.Contains(all, "CANARY") {
			t.Errorf("a secret is printed, or %v", err)
		}
		inOrder(t, p)
		again, err := s.plan()
		if changed := p.Save("", s.policy).Stale("", again); err != nil || len(changed) > 0 {
			t.Errorf("it is stale at once: %v, %v", changed, err)
		}
		return got
	})
}

// inOrder checks that keys are unique, and that each step comes after those
// that it needs.
func inOrder(t *testing.T, p *nodes.Plan) {
	t.Helper()
	done := map[string]bool{}
	for _, s := range p.Steps {
		for _, need := range s.Needs {
			if !done[string(need)] {
				t.Errorf("%s comes before %s", s.Key, need)
			}
		}
		if done[string(s.Key)] {
			t.Errorf("%s is there twice", s.Key)
		}
		done[string(s.Key)] = true
		if (s.Action == nodes.Configure || s.Action == nodes.Stage) && p.Send(s.Node).IsZero() {
			t.Errorf("%s sends nothing", s.Key)
		}
	}
}

func TestStale(t *testing.T) {
	text := "node cp-1 control-plane configured running harmless\nmember cp-1 healthy\n"
	s := read(t, text)
	p, err := nodes.Make(s.desired, s.observed, s.policy)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*nodes.Observed)
		want   string
	}{
		"rebooted":     {func(o *nodes.Observed) { o.Nodes[0].BootID = "later" }, "node/cp-1 has changed"},
		"reconfigured": {func(o *nodes.Observed) { o.Nodes[0].ConfigVersion = "2" }, "node/cp-1 has changed"},
		"gone":         {func(o *nodes.Observed) { o.Nodes = nil }, "node/cp-1 is gone"},
		"another":      {func(o *nodes.Observed) { o.Nodes = append(o.Nodes, nodes.Node{Name: "x"}) }, "node/x is there now"},
		"etcd":         {func(o *nodes.Observed) { o.Members[0].Healthy = false }, "etcd/members has changed"},
	} {
		now := read(t, text).observed
		c.change(&now)
		again, err := nodes.Make(s.desired, now, s.policy)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Save("", s.policy).Stale("", again), ", "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
