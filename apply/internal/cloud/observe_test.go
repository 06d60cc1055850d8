package cloud

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/schemas"
)

// prod is a cluster with something of each kind that can be missing.
var prod = schemas.Infrastructure{
	Cluster:         "prod",
	Network:         &schemas.InfraNetwork{Name: "prod"},
	Firewalls:       []schemas.InfraFirewall{{Name: "prod"}},
	LoadBalancers:   []schemas.InfraLoadBalancer{{Name: "prod-kube-api"}},
	PlacementGroups: []schemas.InfraPlacementGroup{{Name: "prod-pg-1"}},
	FloatingIPs:     []schemas.InfraFloatingIP{{Name: "prod-ip", Type: "ipv4"}},
	Servers: []schemas.InfraServer{
		{Name: "prod-1", Image: schemas.InfraImage{Name: "debian-13", Architecture: "x86"}, SSHKeys: []string{"my-key"}},
	},
	DNSRecords: []schemas.InfraDNSRecord{{Zone: "example.com", Name: "api", Type: "A"}},
}

// make creates something in the project, as somebody does.
func (s *simulated) make(what string, labels map[string]string, network *hcloud.Network) {
	s.Helper()
	ctx, api := context.Background(), s.client(0).api
	var err error
	kind, name, _ := strings.Cut(what, "/")
	switch kind {
	case "network":
		_, ipRange, _ := net.ParseCIDR("10.0.0.0/16")
		_, subnet, _ := net.ParseCIDR("10.0.0.0/24")
		_, _, err = api.Network.Create(ctx, hcloud.NetworkCreateOpts{Name: name, IPRange: ipRange, Labels: labels, Subnets: []hcloud.NetworkSubnet{
			{Type: hcloud.NetworkSubnetTypeCloud, NetworkZone: hcloud.NetworkZoneEUCentral, IPRange: subnet},
		}})
	case "firewall":
		_, _, err = api.Firewall.Create(ctx, hcloud.FirewallCreateOpts{Name: name, Labels: labels})
	case "group":
		_, _, err = api.PlacementGroup.Create(ctx, hcloud.PlacementGroupCreateOpts{Name: name, Labels: labels, Type: hcloud.PlacementGroupTypeSpread})
	case "ip":
		_, _, err = api.FloatingIP.Create(ctx, hcloud.FloatingIPCreateOpts{
			Name: &name, Labels: labels, Type: hcloud.FloatingIPTypeIPv4, HomeLocation: &hcloud.Location{Name: "nbg1"},
		})
	case "balancer":
		_, _, err = api.LoadBalancer.Create(ctx, hcloud.LoadBalancerCreateOpts{
			Name: name, Labels: labels, LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"}, Location: &hcloud.Location{Name: "nbg1"}, Network: network,
		})
	case "server":
		opts := hcloud.ServerCreateOpts{
			Name: name, Labels: labels, ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: "debian-13"},
			Location: &hcloud.Location{Name: "nbg1"},
		}
		if network != nil {
			opts.Networks = []*hcloud.Network{network}
		}
		_, _, err = api.Server.Create(ctx, opts)
	}
	if err != nil {
		s.Fatalf("%s: %v", what, err)
	}
	s.clock.Advance(1 << 36)
}

// names lists what was observed: kind/name.
func names(o cloudplan.Observed) (out []string) {
	add := func(kind string, m cloudplan.Meta) { out = append(out, kind+"/"+m.Name) }
	for _, x := range o.Networks {
		add("network", x.Meta)
	}
	for _, x := range o.Firewalls {
		add("firewall", x.Meta)
	}
	for _, x := range o.PlacementGroups {
		add("group", x.Meta)
	}
	for _, x := range o.FloatingIPs {
		add("ip", x.Meta)
	}
	for _, x := range o.LoadBalancers {
		add("balancer", x.Meta)
	}
	for _, x := range o.Servers {
		add("server", x.Meta)
	}
	return out
}

var prodLabels = map[string]string{"cluster": "prod", "managed-by": "talosgen"}

// TestWhatIsObserved: what is the cluster's, by its label or, if somebody took
// that away, by its name; what is in its way; what is attached to its network.
// Not: what others have.
func TestWhatIsObserved(t *testing.T) {
	s := simulate(t)
	s.make("network/prod", prodLabels, nil)
	network, _, err := s.client(0).api.Network.GetByName(context.Background(), "prod")
	if err != nil {
		t.Fatal(err)
	}
	for what, labels := range map[string]map[string]string{
		"firewall/prod":          nil,                             // somebody else's, in the way
		"firewall/old":           prodLabels,                      // not desired any more
		"firewall/other":         {"cluster": "prod-2"},           // another cluster's
		"group/prod-pg-1":        {"by": "hand"},                  // the label was taken away
		"group/prod-pg-2":        nil,                             // a similar name
		"ip/prod-ip":             prodLabels,                      //
		"ip/prod-ip-2":           {"cluster": "Prod"},             //
		"balancer/prod-kube-api": {"managed-by": "talosgen"},      //
		"balancer/www":           nil,                             //
		"server/prod-1":          {"managed-by": "talosgen"},      //
		"server/prod-2":          {"role": "worker"},              //
		"server/prod-old":        prodLabels,                      //
		"server/stranger":        {"cluster": "", "prod": "prod"}, //
	} {
		s.make(what, labels, nil)
	}
	s.make("balancer/a9f8e7", map[string]string{"hcloud-ccm/service-uid": "1"}, network) // the cloud controller's
	s.make("server/auto-1", map[string]string{"hcloud/node-group": "prod-auto"}, network)
	o, err := s.client(0).Observe(context.Background(), prod)
	if err != nil {
		t.Fatal(err)
	}
	got := names(o)
	slices.Sort(got)
	want := []string{
		"balancer/a9f8e7", "balancer/prod-kube-api", "firewall/old", "firewall/prod", "group/prod-pg-1", "ip/prod-ip",
		"network/prod", "server/auto-1", "server/prod-1", "server/prod-old",
	}
	if !slices.Equal(got, want) {
		t.Errorf("observed %q\nwant %q", got, want)
	}
	if !o.Time.Equal(s.clock.Now().Truncate(1e9)) || len(o.Catalogue.ServerTypes) == 0 || o.Catalogue.Pricing.Currency != "EUR" {
		t.Errorf("time %s, %d types, %q", o.Time, len(o.Catalogue.ServerTypes), o.Catalogue.Pricing.Currency)
	}
}

// TestExistingNetwork is found by its id, whatever its labels.
func TestExistingNetwork(t *testing.T) {
	s := simulate(t)
	s.make("network/shared", map[string]string{"team": "net"}, nil)
	network, _, err := s.client(0).api.Network.GetByName(context.Background(), "shared")
	if err != nil {
		t.Fatal(err)
	}
	desired := schemas.Infrastructure{Cluster: "prod", Network: &schemas.InfraNetwork{Existing: true, ExistingID: network.ID}}
	o, err := s.client(0).Observe(context.Background(), desired)
	if got := names(o); err != nil || !slices.Equal(got, []string{"network/shared"}) {
		t.Errorf("observed %q, %v", got, err)
	}
}

// TestManyPages: more servers than a page holds.
func TestManyPages(t *testing.T) {
	s := simulate(t)
	for i := range 101 {
		s.make(fmt.Sprintf("server/prod-%d", i), prodLabels, nil)
	}
	s.sim.ResetCalls()
	o, err := s.client(0).Observe(context.Background(), schemas.Infrastructure{Cluster: "prod"})
	if err != nil || len(o.Servers) != 101 {
		t.Errorf("%d servers, %v", len(o.Servers), err)
	}
	pages := 0
	for _, c := range s.sim.Calls() {
		if c.Path == "/servers" {
			pages++
		}
	}
	if pages != 5 { // the first two once more, after the last one
		t.Errorf("%d pages", pages)
	}
}

// TestEveryReadCounts: whichever read fails, for good, there is an error and no
// observation.
func TestEveryReadCounts(t *testing.T) {
	s := simulate(t)
	observe := func() (cloudplan.Observed, error) { return s.client(0).Observe(context.Background(), prod) }
	if _, err := observe(); err != nil {
		t.Fatal(err)
	}
	calls := len(s.sim.Calls())
	for k := range calls {
		s.sim.ResetCalls()
		s.sim.ClearFaults()
		s.sim.Inject(hetznersim.Fault{Call: k + 1, As: hetznersim.Status(403, "maintenance", "not now")})
		o, err := observe()
		if err == nil || len(names(o)) != 0 || !strings.Contains(err.Error(), "read: not now (maintenance)") {
			t.Errorf("call %d: %v", k+1, err)
		}
	}
	if calls < 15 {
		t.Errorf("only %d calls", calls)
	}
}

// TestListThatChanges: an object that was deleted between two pages must not
// hide another one.
func TestListThatChanges(t *testing.T) {
	for _, tt := range []struct {
		name   string
		totals []int // that the pages of two servers tell, try by try
		reads  int
		fails  bool
	}{
		{"nobody changes it", []int{2, 2, 2}, 3, false},
		{"one was deleted meanwhile", []int{3, 3, 2, 2, 2}, 5, false},
		{"no end of it", []int{3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 10, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := 0
			c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				page, next := r.URL.Query().Get("page"), "null"
				if page == "1" {
					next = "2"
				}
				answer(w, 200, fmt.Sprintf(`{"servers":[{"id":%s,"name":"s%[1]s"}],"meta":{"pagination":{"page":%[1]s,"per_page":1,"next_page":%s,"total_entries":%d}}}`,
					page, next, tt.totals[n]))
				n++
			})
			found, err := all(context.Background(), "servers", "", func(l hcloud.ListOpts) ([]*hcloud.Server, *hcloud.Response, error) {
				return c.api.Server.List(context.Background(), hcloud.ServerListOpts{ListOpts: l})
			})
			if (err != nil) != tt.fails || !tt.fails && len(found) != 2 || n != tt.reads {
				t.Errorf("%d found in %d requests, %v", len(found), n, err)
			}
			if tt.fails && !strings.Contains(err.Error(), "servers: the list changes faster than it can be read") {
				t.Error(err)
			}
		})
	}
}

// TestSettled: servers on their way are waited for, and those of others are not.
func TestSettled(t *testing.T) {
	clock := hetznersim.NewClock(start)
	s := simulateWith(t, clock, nil) // actions take their time
	api := s.client(0).api
	begin := func(name string, labels map[string]string) {
		t.Helper()
		if _, _, err := api.Server.Create(context.Background(), hcloud.ServerCreateOpts{
			Name: name, Labels: labels, ServerType: &hcloud.ServerType{Name: "cx23"}, Image: &hcloud.Image{Name: "debian-13"},
			Location: &hcloud.Location{Name: "nbg1"},
		}); err != nil {
			t.Fatal(err)
		}
	}
	desired := schemas.Infrastructure{Cluster: "prod"}
	begin("other", map[string]string{"cluster": "prod-2"})
	if _, err := s.client(0).ObserveSettled(context.Background(), desired); err != nil || !clock.Now().Equal(start) {
		t.Errorf("waited until %s for somebody else's, %v", clock.Now(), err)
	}
	begin("prod-1", prodLabels)
	o, err := s.client(0).ObserveSettled(context.Background(), desired)
	if err != nil || len(o.Servers) != 1 || o.Servers[0].Status != "running" || clock.Now().Equal(start) {
		t.Errorf("%+v, %v", o.Servers, err)
	}
}
