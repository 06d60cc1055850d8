package execute_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"regexp"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/schemas"
)

// Ids of the network and the firewall of another owner.
const (
	officeNetwork  = 41
	officeFirewall = 42
)

// share adds a network with a subnet and a route, and a firewall, of another
// owner.
func (p *project) share() {
	p.Helper()
	p.sim.AddNetwork(officeNetwork, "office", netip.MustParsePrefix("10.0.0.0/16"))
	p.sim.AddFirewall(officeFirewall, "22")
	ctx, office := context.Background(), &hcloud.Network{ID: officeNetwork}
	for _, ipRange := range []string{"10.0.1.0/24", "10.0.80.0/25"} {
		_, cidr, err := net.ParseCIDR(ipRange)
		must(p, cidr, nil, err)
		action, _, err := p.others.Network.AddSubnet(ctx, office, hcloud.NetworkAddSubnetOpts{Subnet: hcloud.NetworkSubnet{
			Type: hcloud.NetworkSubnetTypeCloud, NetworkZone: hcloud.NetworkZoneEUCentral, IPRange: cidr,
		}})
		must(p, action, nil, err)
		p.clock.Advance(time.Minute)
	}
	_, home, err := net.ParseCIDR("192.168.0.0/16")
	must(p, home, nil, err)
	action, _, err := p.others.Network.AddRoute(ctx, office, hcloud.NetworkAddRouteOpts{
		Route: hcloud.NetworkRoute{Destination: home, Gateway: net.ParseIP("10.0.1.9")},
	})
	must(p, action, nil, err)
	p.clock.Advance(time.Minute)
}

// inShared is a cluster in the network of another owner, behind their firewall.
func inShared(s plantest.Spec) schemas.Infrastructure {
	d := infrastructure(s)
	d.Network.Name, d.Network.ExistingID, d.Network.Existing = "", officeNetwork, true
	d.Network.Labels, d.Network.Protected = nil, false
	d.Firewalls[0] = schemas.InfraFirewall{ExistingID: officeFirewall, ApplyTo: d.Firewalls[0].ApplyTo}
	return d
}

// TestSharedThingsStay: the network and the firewall of another owner are as they
// were after each change of a cluster in them, and after its destroy, also if
// each run but the last of a step is killed.
func TestSharedThingsStay(t *testing.T) {
	for seed := range uint64(walks(20)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := &walk{r: rand.New(rand.NewPCG(seed, 7)), project: newProject(t, hetznersim.Options{})}
			w.share()
			want := w.besides()
			spec := plantest.Random(w.r, "prod")
			for range 3 {
				w.killed(inShared(spec), everything, false)
				w.run(inShared(spec), everything).mustApply()
				spec = spec.Change(w.r)
			}
			w.destroyed(inShared(spec))
			if got := w.besides(); got != want {
				t.Errorf("the project is not as it was:\n%s", differences(got, want))
			}
		})
	}
}

// besides is everything in the project but what a cluster adds to the network of
// another owner: subnets, and the route to its gateway. They stay, since somebody
// else may use them by then.
func (w *walk) besides() string {
	w.Helper()
	return added.ReplaceAllString(w.fingerprint(), "")
}

var added = regexp.MustCompile(`,?"\{[^}]*\\"ip_range\\":\\"10\.0\.(64\.0|64\.128|88\.0)/25\\"[^}]*\}"|"\{[^}]*\\"0\.0\.0\.0/0\\"[^}]*10\.0\.64\.100[^}]*\}",?`)

// TestRandomDestroys: destroy leaves nothing of its cluster, wherever it is
// killed and whatever was done by hand before, and a second cluster as it was.
func TestRandomDestroys(t *testing.T) {
	for seed := range uint64(walks(30)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := &walk{r: rand.New(rand.NewPCG(seed, 9)), project: newProject(t, hetznersim.Options{})}
			second := infrastructure(plantest.Random(w.r, "prod-two"))
			w.run(second, everything).mustApply()
			spec := plantest.Random(w.r, "prod")
			w.killed(infrastructure(spec), everything, false)
			w.run(infrastructure(spec), everything).mustApply()
			w.drift()
			w.run(second, everything).mustApply() // what was done to this one
			want := w.owned("prod-two")
			w.destroyed(infrastructure(spec))
			if left := w.owned("prod"); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			if got := w.owned("prod-two"); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("of the second cluster %v are left, of %v", got, want)
			}
		})
	}
}

// walks is how many seeds are walked: fewer in short runs.
func walks(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// destroyed destroys a cluster, with two runs that are killed before.
func (w *walk) destroyed(infra schemas.Infrastructure) {
	w.Helper()
	policy := everything
	policy.AllowMade, policy.Unprotect = true, infra.Cluster
	for range 2 {
		w.killed(infra, policy, true)
	}
	r := w.run(infra, policy)
	r.destroy = true
	r.mustApply()
}

// killed runs once, and is killed at a call.
func (w *walk) killed(infra schemas.Infrastructure, policy plan.Consent, destroy bool) {
	w.sim.ClearFaults()
	w.sim.ResetCalls()
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	w.sim.Inject(hetznersim.Fault{Call: 1 + w.r.IntN(150), As: hetznersim.Drop(), Then: kill, When: hetznersim.When(w.r.IntN(2))})
	r := w.run(infra, policy)
	r.destroy = destroy
	_, err := r.apply(ctx)
	w.tell("killed, %v: %v", destroy, err)
	w.sim.ClearFaults()
	w.clock.Advance(time.Hour) // the lock has expired by then
}

// owned are the names of everything that a cluster owns.
func (w *walk) owned(cluster string) (names []string) {
	w.clock.Advance(time.Minute)
	for _, what := range everywhere {
		for _, o := range w.list(what) {
			if labels, _ := o["labels"].(map[string]any); labels[schemas.LabelCluster] == cluster && labels[schemas.LabelManagedBy] == schemas.ManagedBy {
				names = append(names, fmt.Sprint(what, " ", o["name"]))
			}
		}
	}
	return names
}
