package cloud_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/schemas"
)

// everything agrees to everything.
var everything = plan.Policy{AllowDestroy: true, AllowPowerOff: true}

// seeds is how many random clusters each property is tried with.
const seeds = 200

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func mustMake(t *testing.T, desired schemas.Infrastructure, m *plantest.Model, policy plan.Policy) *cloud.Plan {
	t.Helper()
	p, err := cloud.Make(desired, m.Observed, policy)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// converge applies plans until there is nothing to do. Each run but the last
// stops after a number of calls.
func converge(t *testing.T, desired schemas.Infrastructure, m *plantest.Model, stops ...int) {
	t.Helper()
	for _, limit := range append(stops, -1) {
		p := mustMake(t, desired, m, everything)
		if !p.Executable() {
			t.Fatalf("not executable:\n%s", p)
		}
		if _, err := m.Apply(p, limit); err != nil {
			t.Fatalf("%v, of\n%s", err, p)
		}
	}
	if p := mustMake(t, desired, m, plan.Policy{}); len(p.Changes)+len(p.Refusals) > 0 {
		t.Fatalf("something is left to do:\n%s", p)
	}
}

// What was made is what is desired: the second plan is empty, without consent.
func TestNothingIsLeftToDo(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := random(seed)
			m := plantest.NewModel(plantest.Empty())
			converge(t, plantest.Random(r, "prod").Infrastructure(), m)
		})
	}
}

// A run may stop anywhere, and what is desired may change meanwhile.
func TestInterruptedRunsConverge(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := random(seed)
			m := plantest.NewModel(plantest.Empty())
			spec := plantest.Random(r, "prod")
			for range 4 {
				converge(t, spec.Infrastructure(), m, r.IntN(40), r.IntN(40), r.IntN(10))
				spec = spec.Change(r)
			}
		})
	}
}

// Whatever somebody does by hand is undone, by runs that stop anywhere, while
// more is done by hand.
func TestDriftConverges(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := random(seed)
			m := plantest.NewModel(plantest.Empty())
			desired := plantest.Random(r, "prod").Infrastructure()
			converge(t, desired, m)
			for range 5 {
				var done []string
				for range 1 + r.IntN(4) {
					done = append(done, m.Drift(r))
				}
				t.Log(done)
				converge(t, desired, m, r.IntN(20), r.IntN(20))
			}
		})
	}
}

// Destroy leaves nothing that the cluster owns, wherever it is interrupted, and
// touches nothing else.
func TestDestroyConverges(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := random(seed)
			m := plantest.NewModel(plantest.Empty())
			other := plantest.Random(r, "prod-two").Infrastructure()
			converge(t, other, m)
			before := len(m.Observed.Servers)
			desired := plantest.Random(r, "prod").Infrastructure()
			converge(t, desired, m, r.IntN(60))
			for range 3 {
				m.Drift(r)
			}
			m.Settle()
			theirs := owned(m, "prod-two")
			var p *cloud.Plan
			for _, limit := range []int{r.IntN(20), r.IntN(20), -1} {
				var err error
				if p, err = cloud.Destroy(desired, m.Observed, plan.Policy{Unprotect: "prod"}); err != nil || !p.Executable() {
					t.Fatal(err, p)
				}
				if _, err := m.Apply(p, limit); err != nil {
					t.Fatalf("%v, of\n%s", err, p)
				}
			}
			// A firewall that was applied to the other cluster by hand stays, and is named.
			if left := owned(m, "prod"); len(left) > 0 && !strings.Contains(p.String(), "firewall/prod: it still protects server/prod-two") {
				t.Errorf("left: %v\n%s", left, p)
			}
			if now := owned(m, "prod-two"); !slices.Equal(now, theirs) {
				t.Errorf("of the other cluster %v are left, of %v (%d servers)", now, theirs, before)
			}
		})
	}
}

// owned are the names of everything that a cluster owns.
func owned(m *plantest.Model, cluster string) (names []string) {
	add := func(kind, name string, labels map[string]string) {
		if labels[schemas.LabelCluster] == cluster {
			names = append(names, kind+" "+name)
		}
	}
	o := m.Observed
	for _, n := range o.Networks {
		add("network", n.Name, n.Labels)
	}
	for _, f := range o.Firewalls {
		add("firewall", f.Name, f.Labels)
	}
	for _, b := range o.LoadBalancers {
		add("load balancer", b.Name, b.Labels)
	}
	for _, g := range o.PlacementGroups {
		add("group", g.Name, g.Labels)
	}
	for _, f := range o.FloatingIPs {
		add("floating IP", f.Name, f.Labels)
	}
	for _, s := range o.Servers {
		add("server", s.Name, s.Labels)
	}
	for _, z := range o.Zones {
		for _, set := range z.RRSets {
			add("records", set.Name, set.Labels)
		}
	}
	return names
}
