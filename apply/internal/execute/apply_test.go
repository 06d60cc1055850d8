package execute_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/internal/execute"
	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/simtest"
)

// whole is a cluster with a bit of everything.
var whole = plantest.Spec{
	Cluster: "prod", ControlPlanes: 3, API: true, Ingress: 1, FloatingIP: true, DNS: true, ReverseDNS: true, Protected: true,
	Pools: []plantest.Pool{{Name: "worker", Count: 2, Size: 1, Groups: true, Backups: true}}, Rules: 2, Dedicated: 2,
}

// A second apply finds nothing to do, and takes few requests to see it.
func TestSecondApplyDoesNothing(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	p.run(infrastructure(whole), everything).mustApply()
	first := len(p.sim.Calls())
	p.sim.ResetCalls()
	p.run(infrastructure(whole), everything).mustApply()
	t.Logf("%d requests, then %d", first, len(p.sim.Calls()))
	if n := len(p.sim.Calls()); n > 20 {
		t.Errorf("%d requests:\n%s", n, p.log())
	}
	p.onlyReads(2) // the lock
}

// onlyReads wants at most so many calls that are no reads.
func (p *project) onlyReads(but int) {
	p.Helper()
	writes := slices.DeleteFunc(p.sim.Calls(), func(c hetznersim.Call) bool { return c.Method == http.MethodGet })
	if len(writes) > but {
		p.Errorf("writes: %v", writes)
	}
}

// TestOverHTTP: the same through a real connection, every request and answer
// compared with the description of the API, several changes at once.
func TestOverHTTP(t *testing.T) {
	for name, old := range map[string]bool{"load balancers end by an action": false, "as before 2026-10-05": true} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, hetznersim.Options{OldLoadBalancerDelete: old})
			p.http, p.url = http.DefaultTransport, simtest.Serve(t, p.sim)
			apply := func(spec plantest.Spec) {
				t.Helper()
				r := p.run(infrastructure(spec), everything)
				r.parallel = 4
				r.mustApply()
			}
			apply(whole)
			apply(with(whole, func(s *plantest.Spec) {
				s.Ingress, s.Rules, s.Protected, s.ReverseDNS, s.Pools[0].Size, s.Pools[0].Backups = 0, 0, false, false, 2, false
			}))
			p.destroy(whole)
			apply(private)
			apply(with(private, func(s *plantest.Spec) { s.Private = false }))
			p.destroy(private)
		})
	}
}

// destroy removes the cluster of a spec with every consent.
func (p *project) destroy(spec plantest.Spec) {
	p.Helper()
	policy := everything
	policy.AllowMade, policy.Unprotect = true, spec.Cluster
	r := p.run(infrastructure(spec), policy)
	r.destroy, r.parallel = true, 4
	r.mustApply()
}

// TestHundredServers: a cluster of the largest size that Hetzner allows, under
// the real rate limit, without one failed step. A second apply reads two pages
// of servers instead of one, and the first of them again after the second.
func TestHundredServers(t *testing.T) {
	p := newProject(t, hetznersim.Options{Limits: hetznersim.Limits{}})
	spec := with(whole, func(s *plantest.Spec) {
		s.Pools = []plantest.Pool{
			{Name: "a", Count: 45, Groups: true}, {Name: "b", Offset: 60, Count: 50, Size: 1, Groups: true, Backups: true},
		}
	})
	r := p.run(infrastructure(spec), everything)
	r.parallel = 8
	r.report = func(e execute.Event[cloudplan.Change]) {
		if e.State == execute.Failed || e.State == execute.Skipped {
			t.Errorf("%s: %v", e.Step.Key, e.Err)
		}
	}
	r.mustApply()
	for _, c := range p.sim.Calls() {
		if c.Code != "" && c.Method != http.MethodGet {
			t.Errorf("%s", c)
		}
	}
	stats := r.client.Stats()
	t.Logf("%+v, in %s", stats, p.clock.Now().Sub(r.began))
	p.sim.ResetCalls()
	p.run(infrastructure(spec), everything).mustApply()
	if n := len(p.sim.Calls()); n > 22 {
		t.Errorf("a second apply takes %d requests:\n%s", n, p.log())
	}
}

// TestScarceRequests: the project's limit is a tenth of the usual one, and the
// run takes longer instead of failing.
func TestScarceRequests(t *testing.T) {
	p := newProject(t, hetznersim.Options{RateLimit: 100})
	r := p.run(infrastructure(whole), everything)
	r.mustApply()
	if stats := r.client.Stats(); stats.Limited == 0 {
		t.Errorf("it was never held up: %+v", stats)
	}
}

// TestSoldOut: another type or location is taken, and stays; without any the
// error says what was tried.
func TestSoldOut(t *testing.T) {
	spec := plantest.Spec{Cluster: "prod", ControlPlanes: 1}
	infra := infrastructure(spec)
	for _, tt := range []struct {
		name  string
		stock hetznersim.Stock
		in    [][2]string // location, type
		want  string
	}{
		{"nothing", hetznersim.HiddenSoldOut, nil, "cpx22 in nbg1"},
		{"a location, which is shown", hetznersim.SoldOut, [][2]string{{"nbg1", "cpx22"}}, "cpx22 in fsn1"},
		{"a location, noticed late", hetznersim.HiddenSoldOut, [][2]string{{"nbg1", "cpx22"}}, "cpx22 in fsn1"},
		{"no place for a group", hetznersim.NoPlacement, [][2]string{{"nbg1", "cpx22"}}, "cpx22 in fsn1"},
		{"a type", hetznersim.HiddenSoldOut, [][2]string{{"nbg1", "cpx22"}, {"fsn1", "cpx22"}}, "cpx32 in nbg1"},
		{"everything", hetznersim.HiddenSoldOut, [][2]string{{"nbg1", ""}, {"fsn1", ""}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, hetznersim.Options{})
			for _, at := range tt.in {
				p.sim.SetStock(at[0], at[1], tt.stock)
			}
			if tt.want == "" {
				_, err := p.run(infra, everything).apply(context.Background())
				for _, want := range []string{"create a cpx22 in nbg1: error during placement (resource_unavailable)", "create a cpx32 in fsn1"} {
					if !strings.Contains(fmt.Sprint(err), want) {
						t.Errorf("error %v", err)
					}
				}
				return
			}
			for range 2 {
				p.run(infra, everything).mustApply()
				s, _, err := p.others.Server.GetByName(context.Background(), "prod-control-plane-1")
				if s = must(t, s, nil, err); s.ServerType.Name+" in "+s.Location.Name != tt.want {
					t.Errorf("it is a %s in %s", s.ServerType.Name, s.Location.Name)
				}
			}
		})
	}
}

// TestActionSaysSoldOut: the stock-out comes as the end of an action.
func TestActionSaysSoldOut(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	p.sim.Inject(hetznersim.Fault{Method: "POST", Path: "/servers", As: hetznersim.ActionError("resource_unavailable", "we are unable to provision servers for this location")})
	p.run(infrastructure(plantest.Spec{Cluster: "prod", ControlPlanes: 1}), everything).mustApply()
	s, _, err := p.others.Server.GetByName(context.Background(), "prod-control-plane-1")
	if s = must(t, s, nil, err); s.Location.Name != "fsn1" {
		t.Errorf("it is in %s", s.Location.Name)
	}
}

// TestDeafServer: a server that ignores the request to shut down is switched
// off; one that listens is not.
func TestDeafServer(t *testing.T) {
	from := plantest.Spec{Cluster: "prod", ControlPlanes: 1, Pools: []plantest.Pool{{Name: "worker", Count: 1}}}
	to := with(from, func(s *plantest.Spec) { s.Pools[0].Size = 2 })
	for _, deaf := range []bool{false, true} {
		p := newProject(t, hetznersim.Options{})
		p.run(infrastructure(from), everything).mustApply()
		if deaf {
			p.sim.IgnoreShutdown("prod-worker-1")
		}
		p.sim.ResetCalls()
		p.run(infrastructure(to), everything).mustApply()
		hard := slices.ContainsFunc(p.sim.Calls(), func(c hetznersim.Call) bool { return strings.HasSuffix(c.Path, "/poweroff") })
		if hard != deaf {
			t.Errorf("deaf %v, switched off %v", deaf, hard)
		}
	}
}

// TestOneAfterTheOther: servers that have to be off for a change are never off
// together.
func TestOneAfterTheOther(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	from := plantest.Spec{Cluster: "prod", ControlPlanes: 1, Pools: []plantest.Pool{{Name: "worker", Count: 4}}}
	p.run(infrastructure(from), everything).mustApply()
	r := p.run(infrastructure(with(from, func(s *plantest.Spec) { s.Pools[0].Size = 2 })), everything)
	r.parallel = 8
	var open []plan.Key
	r.report = func(e execute.Event[cloudplan.Change]) {
		if e.State == execute.Started {
			open = append(open, e.Step.Key)
		} else {
			open = slices.DeleteFunc(open, func(k plan.Key) bool { return k == e.Step.Key })
		}
		if len(open) > 1 {
			t.Errorf("at once: %s", open)
		}
	}
	r.mustApply()
}

// TestNeighbours: destroy leaves a second cluster alone, and everything else in
// the project, however similar its names and labels are.
func TestNeighbours(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	second := with(small, func(s *plantest.Spec) { s.Cluster, s.DNS = "prod-2", true })
	p.run(infrastructure(second), everything).mustApply()
	p.clutter()
	want := p.fingerprint()
	p.run(infrastructure(small), everything).mustApply()
	p.destroy(small)
	if got := p.fingerprint(); got != want {
		t.Errorf("destroy leaves another project:\n%s", differences(got, want))
	}
}

// make does what parts of a cluster do while it lives: the cloud controller makes
// a load balancer, the CSI driver a volume, the autoscaler a server.
func (p *project) make(cluster string) {
	p.Helper()
	ctx := context.Background()
	n, _, err := p.others.Network.GetByName(ctx, cluster)
	n = must(p, n, nil, err)
	worker, _, err := p.others.Server.GetByName(ctx, cluster+"-worker-1")
	worker = must(p, worker, nil, err)
	balancer, _, err := p.others.LoadBalancer.Create(ctx, hcloud.LoadBalancerCreateOpts{
		Name: "a9f8e7", LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"}, Location: &hcloud.Location{Name: "nbg1"},
		Network: n, Labels: map[string]string{"hcloud-ccm/service-uid": "1234"},
	})
	must(p, balancer, nil, err)
	p.clock.Advance(time.Hour)
	volume, _, err := p.others.Volume.Create(ctx, hcloud.VolumeCreateOpts{
		Name: "pvc-1", Size: 10, Server: worker, Labels: map[string]string{"managed-by": "csi-driver", "pvc-name": "data"},
	})
	must(p, volume, nil, err)
	p.clock.Advance(time.Hour)
	server, _, err := p.others.Server.Create(ctx, hcloud.ServerCreateOpts{
		Name: cluster + "-auto-6f3b", ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: plantest.Debian},
		Location: &hcloud.Location{Name: "nbg1"}, Networks: []*hcloud.Network{n}, Labels: map[string]string{"hcloud/node-group": cluster + "-auto"},
	})
	must(p, server, nil, err)
	p.clock.Advance(time.Hour)
}

// TestWhatTheClusterMade: destroy takes it only if somebody agrees; without, it
// and the network that it is in stay, and are named.
func TestWhatTheClusterMade(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	empty := p.fingerprint()
	p.run(infrastructure(private), everything).mustApply()
	p.make("prod")
	r := p.run(infrastructure(private), plan.Consent{Unprotect: "prod"})
	r.destroy = true
	last, err := r.apply(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, n := range last.Left {
		left = append(left, string(n.Key))
	}
	for _, key := range []string{"load-balancer/a9f8e7", "server/prod-auto-6f3b", "volume/pvc-1", "network/prod"} {
		if !slices.Contains(left, key) {
			t.Errorf("%s is not among what is left: %s", key, left)
		}
	}
	p.destroy(private)
	if got := p.fingerprint(); got != empty {
		t.Errorf("it is not empty:\n%s", differences(got, empty))
	}
}

// clutter makes things that are nobody's.
func (p *project) clutter() {
	p.Helper()
	ctx := context.Background()
	labels := map[string]string{"cluster": "prod", "role": "worker"} // not managed-by
	server, _, err := p.others.Server.Create(ctx, hcloud.ServerCreateOpts{
		Name: "prod-worker-99", ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: plantest.Debian},
		Location: &hcloud.Location{Name: "nbg1"}, Labels: map[string]string{"role": "worker"},
	})
	must(p, server, nil, err)
	firewall, _, err := p.others.Firewall.Create(ctx, hcloud.FirewallCreateOpts{Name: "prod-old", Labels: labels})
	must(p, firewall, nil, err)
	group, _, err := p.others.PlacementGroup.Create(ctx, hcloud.PlacementGroupCreateOpts{Name: "prod-worker-pg-9", Type: hcloud.PlacementGroupTypeSpread, Labels: labels})
	must(p, group, nil, err)
	volume, _, err := p.others.Volume.Create(ctx, hcloud.VolumeCreateOpts{Name: "prod-data", Size: 10, Location: &hcloud.Location{Name: "nbg1"}, Labels: labels})
	must(p, volume, nil, err)
	balancer, _, err := p.others.LoadBalancer.Create(ctx, hcloud.LoadBalancerCreateOpts{
		Name: "prod-www", LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"}, Location: &hcloud.Location{Name: "nbg1"}, Labels: map[string]string{"managed-by": "talosgen"},
	})
	must(p, balancer, nil, err)
	ip, _, err := p.others.FloatingIP.Create(ctx, hcloud.FloatingIPCreateOpts{
		Name: hcloud.Ptr("prod-mail"), Type: hcloud.FloatingIPTypeIPv4, HomeLocation: &hcloud.Location{Name: "nbg1"}, Labels: map[string]string{"cluster": "prod-3"},
	})
	must(p, ip, nil, err)
	p.clock.Advance(1 << 40)
}
