package nodes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// Any plan that may be executed is, in a random order that its needs allow, with
// as many steps at once as can be: etcd never loses its quorum by it, and not
// more workers are away than were allowed.
func TestPlansKeepQuorum(t *testing.T) {
	executed, refused := 0, 0
	for seed := range uint64(1500) {
		random := rand.New(rand.NewPCG(seed, 3))
		text := randomSituation(random)
		s := read(t, text)
		p, err := nodes.Make(s.desired, s.observed, s.policy)
		if err != nil {
			t.Fatal(err)
		}
		inOrder(t, p)
		if len(p.Refusals)+len(p.Consents()) > 0 {
			refused++
			continue
		}
		executed++
		w := newCluster(s)
		if problem := w.run(random, p); problem != "" {
			t.Fatalf("seed %d: %s\n%s\n%s", seed, problem, text, p)
		}
	}
	if executed < 500 || refused < 250 {
		t.Errorf("%d plans were executed, %d refused: the situations show little", executed, refused)
	}
}

func randomSituation(random *rand.Rand) string {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	var b strings.Builder
	for i := range 1 + random.IntN(5) {
		name := fmt.Sprintf("cp-%d", i+1)
		health := pick("healthy", "healthy", "healthy", "healthy", "healthy", "healthy", "dead")
		switch {
		case random.IntN(8) == 0:
			fmt.Fprintf(&b, "node %s control-plane maintenance maintenance same\n", name)
			continue
		case health == "dead" && random.IntN(2) == 0:
			fmt.Fprintf(&b, "node %s control-plane unreachable - %s\n", name, pick("same", "gone"))
		default:
			fmt.Fprintf(&b, "node %s control-plane configured running %s\n", name, pick("same", "harmless", "restart", "reboot", "gone"))
		}
		fmt.Fprintf(&b, "member %s %s\npolicy allow=%s\n", name, health, name)
	}
	for i := range random.IntN(6) {
		fmt.Fprintf(&b, "node w-%d worker configured running %s\n", i+1, pick("same", "harmless", "restart", "reboot", "gone"))
		fmt.Fprintf(&b, "policy allow=w-%d\n", i+1)
	}
	fmt.Fprintf(&b, "policy parallel=%d\n", 1+random.IntN(3))
	return b.String()
}

// cluster is a model of etcd and of workers while a plan is executed.
type cluster struct {
	members []etcdsafety.Member
	away    map[string]bool // workers
	workers int             // that may be away
}

func newCluster(s situation) *cluster {
	c := &cluster{away: map[string]bool{}, workers: max(s.policy.MaxParallel, 1)}
	for _, m := range s.observed.Members {
		c.members = append(c.members, etcdsafety.Member{Node: m.Node, Cluster: "A", Voter: !m.Learner, Healthy: m.Healthy})
	}
	return c
}

// run begins and ends steps at random. A step that disturbs a node does so from
// its begin until the health check after it.
func (c *cluster) run(random *rand.Rand, p *nodes.Plan) string {
	begun, done := map[plan.Key]bool{}, map[plan.Key]bool{}
	for len(done) < len(p.Steps) {
		s := p.Steps[random.IntN(len(p.Steps))]
		ready := !slices.ContainsFunc(s.Needs, func(k plan.Key) bool { return !done[k] })
		before := slices.Clone(c.members)
		switch {
		case done[s.Key] || !ready:
			continue
		case begun[s.Key]:
			done[s.Key] = true
			c.end(s)
		default:
			begun[s.Key] = true
			c.begin(s)
		}
		if v := etcdsafety.Check(before, c.members, true); len(v) > 0 {
			return fmt.Sprintf("%s: %v", s.Key, v)
		}
		if len(c.away) > c.workers {
			return fmt.Sprintf("%s: %d workers are away", s.Key, len(c.away))
		}
	}
	return ""
}

func (c *cluster) begin(s nodes.Step) {
	worker := strings.HasPrefix(s.Node, "w-")
	disturbs := s.Action == nodes.Reboot || slices.ContainsFunc(s.Changes, func(f nodeconfig.Change) bool { return s.Action == nodes.Configure && f.Class == "restart" })
	switch {
	case s.Action == nodes.Leave || s.Action == nodes.RemoveMember:
		c.members = etcdsafety.Without(c.members, s.Node)
	case s.Action == nodes.Join:
		c.members = append(c.members, etcdsafety.Member{Node: s.Node, Cluster: "A", Voter: true, Healthy: true})
	case disturbs && worker:
		c.away[s.Node] = true
	case disturbs:
		c.set(s.Node, false)
	}
}

func (c *cluster) end(s nodes.Step) {
	if s.Action == nodes.Health {
		delete(c.away, s.Node)
		c.set(s.Node, true)
	}
}

func (c *cluster) set(node string, healthy bool) {
	for i := range c.members {
		if c.members[i].Node == node {
			c.members[i].Healthy = healthy
		}
	}
}
