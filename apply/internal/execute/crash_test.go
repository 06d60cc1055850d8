package execute_test

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/schemas"
)

// small is a cluster with one of each kind of object.
var small = plantest.Spec{
	Cluster: "prod", ControlPlanes: 1, API: true, FloatingIP: true, DNS: true, ReverseDNS: true, Protected: true,
	Pools: []plantest.Pool{{Name: "worker", Count: 1, Groups: true, Backups: true}},
}

// private is one without public addresses.
var private = plantest.Spec{Cluster: "prod", ControlPlanes: 1, Private: true, Pools: []plantest.Pool{{Name: "worker", Count: 1}}}

func with(s plantest.Spec, change func(*plantest.Spec)) plantest.Spec {
	s.Pools = append([]plantest.Pool(nil), s.Pools...)
	change(&s)
	return s
}

// scenario is what a run does: from nothing, or from a cluster, to another one,
// or to nothing.
type scenario struct {
	name     string
	from, to *schemas.Infrastructure
	before   func(*project) // what happens between
}

// begin makes the project that a scenario begins in, and returns what makes its
// runs.
func (s scenario) begin(t *testing.T) (*project, func() *run) {
	t.Helper()
	p := newProject(t, hetznersim.Options{})
	p.supply(*cmp.Or(s.to, s.from))
	if s.from != nil {
		p.run(*s.from, everything).mustApply()
	}
	if s.before != nil {
		s.before(p)
	}
	return p, func() *run {
		if s.to != nil {
			return p.run(*s.to, everything)
		}
		policy := everything
		policy.AllowMade, policy.Unprotect = true, s.from.Cluster
		r := p.run(*s.from, policy)
		r.destroy = true
		return r
	}
}

var scenarios = []scenario{
	{name: "create", to: of(small)},
	{name: "create a private one", to: of(private)},
	{name: "change", from: of(small), to: of(with(small, func(s *plantest.Spec) {
		s.Protected, s.ReverseDNS, s.Rules, s.Pools[0].Backups, s.Pools[0].Groups = false, false, 2, false, false
	}))},
	{name: "rescale", from: of(small), to: of(with(small, func(s *plantest.Spec) { s.Pools[0].Size = 1 }))},
	{name: "go private", from: of(with(small, func(s *plantest.Spec) { s.API, s.FloatingIP, s.DNS = false, false, false })),
		to: of(with(small, func(s *plantest.Spec) { s.API, s.FloatingIP, s.DNS, s.Private = false, false, false, true }))},
	{name: "go public", from: of(private), to: of(with(private, func(s *plantest.Spec) { s.Private = false }))},
	{name: "scale up", from: of(small), to: of(with(small, func(s *plantest.Spec) { s.Pools[0].Count, s.ControlPlanes, s.Ingress = 3, 3, 1 }))},
	{name: "scale down", from: of(whole), to: of(with(whole, func(s *plantest.Spec) { s.Pools[0].Count, s.Ingress, s.FloatingIP, s.DNS = 1, 0, false, false })), before: (*project).assign},
	{name: "destroy", from: of(small)},
	{name: "destroy what it made too", from: of(private), before: func(p *project) { p.make("prod") }},
}

// of spells out a spec.
func of(s plantest.Spec) *schemas.Infrastructure {
	infra := infrastructure(s)
	return &infra
}

// TestOneRound: a run that nothing disturbs makes every change once, and looks
// once more: what a change leaves undone would be seen there, and done in a
// second round.
func TestOneRound(t *testing.T) {
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			p, begin := s.begin(t)
			p.sim.ResetCalls()
			r := begin()
			times := map[plan.Key]int{}
			r.report = func(e execute.Event[cloudplan.Change]) {
				if times[e.Step.Key]++; times[e.Step.Key] > 2 || e.State > execute.Done {
					t.Errorf("%s %s again: %+v", e.Step.Action, e.Step.Key, e.Step.Fields)
				}
			}
			r.mustApply()
			looks := 0
			for _, c := range p.sim.Calls() {
				if c.Path == "/networks" && c.Method == "GET" && strings.Contains(c.Query, "label_selector") {
					looks++
				}
			}
			if looks != 2 {
				t.Errorf("looked %d times", looks)
			}
		})
	}
}

// assign gives the floating IP to a server, as the cluster does.
func (p *project) assign() {
	p.Helper()
	ctx := context.Background()
	ip, _, err := p.others.FloatingIP.GetByName(ctx, "prod-kube-api")
	ip = must(p, ip, nil, err)
	server, _, err := p.others.Server.GetByName(ctx, "prod-control-plane-1")
	server = must(p, server, nil, err)
	action, _, err := p.others.FloatingIP.Assign(ctx, ip, server)
	must(p, action, nil, err)
	p.clock.Advance(time.Hour)
}

// TestCrashAnywhere: whichever call of a run fails, before its effect or after
// it with the answer lost, and the process stops there: the next run ends where
// an undisturbed one would have ended, without duplicates, with nothing left
// over. All calls, not a sample.
func TestCrashAnywhere(t *testing.T) {
	everyCall(t, scenarios, crash)
}

// crash kills a run at a fault, and runs again.
func crash(p *project, r func() *run, f hetznersim.Fault) {
	ctx, kill := context.WithCancel(context.Background())
	f.Then = kill
	p.sim.Inject(f)
	if _, err := r().apply(ctx); err == nil {
		p.Fatal("the run did not notice that it was killed")
	}
	kill()
	p.sim.ClearFaults()
	r().mustApply()
}

// TestLostAnywhere: the same, but the process lives and goes on by itself.
func TestLostAnywhere(t *testing.T) {
	everyCall(t, scenarios, func(p *project, r func() *run, f hetznersim.Fault) {
		p.sim.Inject(f)
		r().mustApply()
	})
}

// everyCall calls disturb for every call of every scenario, and both times that
// it can fail, and compares what it ends with.
func everyCall(t *testing.T, scenarios []scenario, disturb func(p *project, r func() *run, f hetznersim.Fault)) {
	pace := 1
	if testing.Short() {
		pace = 11 // a sample; CI tries them all
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p, r := s.begin(t)
			before := p.sim.Snapshot()
			p.sim.ResetCalls()
			r().mustApply()
			calls := p.sim.Calls()
			want := p.fingerprint()
			t.Logf("%d calls", len(calls))
			for _, when := range []hetznersim.When{hetznersim.BeforeEffect, hetznersim.AfterEffect} {
				for k := 0; k < len(calls); k += pace {
					p.sim.Restore(before)
					p.sim.ResetCalls()
					disturb(p, r, hetznersim.Fault{Call: k + 1, When: when, As: hetznersim.Drop()})
					if got := p.fingerprint(); got != want {
						t.Fatalf("call %d (%s), %d:\n%s\ncalls:\n%s", k+1, calls[k], when, differences(got, want), p.log())
					}
				}
			}
		})
	}
}
