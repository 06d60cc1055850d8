package execute_test

import (
	"context"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/plantest"
	"github.com/talosgen/talosgen/internal/hetznersim"
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

// scenarios are what a run does: from nothing, or from a cluster, to another
// one, or to nothing.
var scenarios = []struct {
	name     string
	from, to *plantest.Spec
	made     bool // the cluster has made things itself
}{
	{name: "create", to: &small},
	{name: "create a private one", to: &private},
	{name: "change", from: &small, to: ptr(with(small, func(s *plantest.Spec) {
		s.Protected, s.ReverseDNS, s.Rules, s.Pools[0].Backups, s.Pools[0].Groups = false, false, 2, false, false
	}))},
	{name: "rescale", from: &small, to: ptr(with(small, func(s *plantest.Spec) { s.Pools[0].Size = 1 }))},
	{name: "go private", from: ptr(with(small, func(s *plantest.Spec) { s.API, s.FloatingIP, s.DNS = false, false, false })),
		to: ptr(with(small, func(s *plantest.Spec) { s.API, s.FloatingIP, s.DNS, s.Private = false, false, false, true }))},
	{name: "go public", from: &private, to: ptr(with(private, func(s *plantest.Spec) { s.Private = false }))},
	{name: "scale up", from: &small, to: ptr(with(small, func(s *plantest.Spec) { s.Pools[0].Count, s.ControlPlanes, s.Ingress = 3, 3, 1 }))},
	{name: "scale down", from: &whole, to: ptr(with(whole, func(s *plantest.Spec) { s.Pools[0].Count, s.Ingress, s.FloatingIP, s.DNS = 1, 0, false, false }))},
	{name: "destroy", from: &small},
	{name: "destroy what it made too", from: &private, made: true},
}

func ptr[T any](v T) *T { return &v }

// TestCrashAnywhere: whichever call of a run fails, before its effect or after
// it with the answer lost, and the process stops there: the next run ends where
// an undisturbed one would have ended, without duplicates, with nothing left
// over. All calls, not a sample.
func TestCrashAnywhere(t *testing.T) {
	everyCall(t, func(p *project, r func() *run, f hetznersim.Fault) {
		ctx, kill := context.WithCancel(context.Background())
		f.Then = kill
		p.sim.Inject(f)
		if _, err := r().apply(ctx); err == nil {
			p.Fatal("the run did not notice that it was killed")
		}
		kill()
		p.sim.ClearFaults()
		r().mustApply()
	})
}

// TestLostAnywhere: the same, but the process lives and goes on by itself.
func TestLostAnywhere(t *testing.T) {
	everyCall(t, func(p *project, r func() *run, f hetznersim.Fault) {
		p.sim.Inject(f)
		r().mustApply()
	})
}

// everyCall calls disturb for every call of every scenario, and both times that
// it can fail, and compares what it ends with.
func everyCall(t *testing.T, disturb func(p *project, r func() *run, f hetznersim.Fault)) {
	pace := 1
	if testing.Short() {
		pace = 11 // a sample; CI tries them all
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, hetznersim.Options{})
			if s.from != nil {
				p.run(infrastructure(*s.from), everything).mustApply()
			}
			if s.made {
				p.make(s.from.Cluster)
			}
			before := p.sim.Snapshot()
			r := func() *run {
				if s.to != nil {
					return p.run(infrastructure(*s.to), everything)
				}
				policy := everything
				policy.AllowMade, policy.Unprotect = true, s.from.Cluster
				r := p.run(infrastructure(*s.from), policy)
				r.destroy = true
				return r
			}
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
