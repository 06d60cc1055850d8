package hetznersim_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// actionReader reads the actions of a kind of resource.
type actionReader[R any] interface {
	GetByID(ctx context.Context, id int64) (*hcloud.Action, *hcloud.Response, error)
	All(ctx context.Context, opts hcloud.ActionListOpts) ([]*hcloud.Action, error)
	ListFor(ctx context.Context, resource R, opts hcloud.ActionListOpts) ([]*hcloud.Action, *hcloud.Response, error)
}

// walkActions reads the actions of a resource in all ways; the client lacks one.
func walkActions[R any](p *project, kind actionReader[R], resource R, path string) {
	p.Helper()
	all := must2(kind.All(p.Context(), hcloud.ActionListOpts{Sort: []string{"id:desc"}}))
	own := must(kind.ListFor(p.Context(), resource, hcloud.ActionListOpts{Status: []hcloud.ActionStatus{hcloud.ActionStatusSuccess}}))
	if len(all) == 0 || len(own) == 0 {
		p.Errorf("no actions: %v, %v", all, own)
		return
	}
	one := must(kind.GetByID(p.Context(), own[0].ID))
	if one.Status != hcloud.ActionStatusSuccess || one.Progress != 100 || one.Finished.IsZero() {
		p.Errorf("%+v", one)
	}
	p.get(fmt.Sprintf("%s/actions/%d", path, own[0].ID), http.StatusOK)
}

// get reads what the client cannot.
func (p *project) get(path string, want int) {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.sim.Token())
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	_ = got.Body.Close()
	if got.StatusCode != want {
		p.Errorf("GET %s: %s", path, got.Status)
	}
}

func walkCatalogue(p *project) {
	ctx, c := p.Context(), p.client
	if all := must2(c.Location.All(ctx)); len(all) != 6 || all[0].NetworkZone != hcloud.NetworkZoneEUCentral {
		p.Errorf("%v", all)
	}
	must(c.Location.GetByID(ctx, 1))
	p.get("/datacenters", http.StatusGone)
	p.get("/datacenters/1", http.StatusGone)
	types := must2(c.ServerType.All(ctx))
	cx23 := must(c.ServerType.GetByName(ctx, "cx23"))
	if len(types) < 20 || cx23.Cores != 2 || cx23.Memory != 4 || cx23.Pricings[0].Monthly.Net != "2.9900000000" || !cx23.Locations[0].Available {
		p.Errorf("%d types, %+v", len(types), cx23)
	}
	must(c.ServerType.GetByID(ctx, cx23.ID))
	lb := must(c.LoadBalancerType.GetByName(ctx, "lb11"))
	must(c.LoadBalancerType.GetByID(ctx, lb.ID))
	iso := must(c.ISO.GetByName(ctx, "latest-virtio-win.iso"))
	if by := must(c.ISO.GetByID(ctx, iso.ID)); by == nil || by.Name != iso.Name || by.Type != hcloud.ISOTypePublic {
		p.Errorf("%+v", by)
	}
	prices := must(c.Pricing.Get(ctx))
	if prices.Currency != "EUR" || len(prices.ServerTypes) != len(types) || prices.Volume.PerGBMonthly.Net == "" {
		p.Errorf("%+v", prices)
	}
	if arm := must(c.Image.GetByNameAndArchitecture(ctx, "debian-13", hcloud.ArchitectureARM)); arm == nil {
		p.Error("no system image for arm")
	}
}

func walkNetworks(p *project) {
	ctx, c := p.Context(), p.client.Network
	n := p.network("a")
	p.wait(must(c.AddSubnet(ctx, n, hcloud.NetworkAddSubnetOpts{Subnet: hcloud.NetworkSubnet{Type: hcloud.NetworkSubnetTypeCloud, IPRange: cidr("10.0.2.0/24"), NetworkZone: "us-east"}})))
	route := hcloud.NetworkRoute{Destination: cidr("0.0.0.0/0"), Gateway: cidr("10.0.1.7/32").IP}
	p.wait(must(c.AddRoute(ctx, n, hcloud.NetworkAddRouteOpts{Route: route})))
	if now := must(c.GetByName(ctx, "a")); len(now.Subnets) != 2 || len(now.Routes) != 1 || now.Subnets[0].Gateway.String() != "10.0.0.1" {
		p.Errorf("%+v", now)
	}
	p.wait(must(c.DeleteRoute(ctx, n, hcloud.NetworkDeleteRouteOpts{Route: route})))
	p.wait(must(c.DeleteSubnet(ctx, n, hcloud.NetworkDeleteSubnetOpts{Subnet: hcloud.NetworkSubnet{IPRange: cidr("10.0.2.0/24")}})))
	p.wait(must(c.ChangeIPRange(ctx, n, hcloud.NetworkChangeIPRangeOpts{IPRange: cidr("10.0.0.0/12")})))
	p.wait(must(c.ChangeProtection(ctx, n, hcloud.NetworkChangeProtectionOpts{Delete: hcloud.Ptr(true)})))
	_, err := c.Delete(ctx, n)
	p.refused(err, hcloud.ErrorCodeProtected)
	p.wait(must(c.ChangeProtection(ctx, n, hcloud.NetworkChangeProtectionOpts{Delete: hcloud.Ptr(false)})))
	must(c.Update(ctx, n, hcloud.NetworkUpdateOpts{Name: "b", Labels: map[string]string{"x": "y"}}))
	if m := must2(c.AllMembers(ctx, n)); len(m) != 0 {
		p.Errorf("%v", m)
	}
	walkActions(p, c.Action, n, fmt.Sprintf("/networks/%d", n.ID))
	must2(p.client.Action.AllWithOpts(ctx, hcloud.ActionListOpts{ID: []int64{must2(c.Action.All(ctx, hcloud.ActionListOpts{}))[0].ID}}))
	must(p.client.Action.GetByID(ctx, must2(c.Action.All(ctx, hcloud.ActionListOpts{}))[0].ID))
	must(0, 0, second(c.Delete(ctx, n)))
	if n := must(c.GetByID(ctx, n.ID)); n != nil {
		p.Error("not deleted")
	}
}

// second returns an error that comes after something else.
func second[V any](_ V, err error) error { return err }

func walkFirewalls(p *project) {
	ctx, c := p.Context(), p.client.Firewall
	made := must(c.Create(ctx, hcloud.FirewallCreateOpts{Name: "a", Rules: []hcloud.FirewallRule{{Direction: hcloud.FirewallRuleDirectionIn,
		Protocol: hcloud.FirewallRuleProtocolTCP, Port: hcloud.Ptr("6443"), SourceIPs: ips("0.0.0.0/0", "::/0"), Description: hcloud.Ptr("API")}}}))
	p.wait(made.Actions...)
	s := p.server("a")
	p.wait(append(s.NextActions, s.Action)...)
	on := []hcloud.FirewallResource{{Type: hcloud.FirewallResourceTypeServer, Server: &hcloud.FirewallResourceServer{ID: s.Server.ID}}}
	p.wait(must(c.ApplyResources(ctx, made.Firewall, on))...)
	_, _, err := c.ApplyResources(ctx, made.Firewall, on)
	p.refused(err, hcloud.ErrorCodeFirewallAlreadyApplied)
	_, err = c.Delete(ctx, made.Firewall)
	p.refused(err, hcloud.ErrorCodeResourceInUse)
	if now := must(p.client.Server.GetByID(ctx, s.Server.ID)); len(now.PublicNet.Firewalls) != 1 || now.PublicNet.Firewalls[0].Firewall.ID != made.Firewall.ID {
		p.Errorf("%+v", now.PublicNet)
	}
	p.wait(must(c.SetRules(ctx, made.Firewall, hcloud.FirewallSetRulesOpts{Rules: []hcloud.FirewallRule{}}))...)
	p.wait(must(c.RemoveResources(ctx, made.Firewall, on))...)
	must(c.Update(ctx, made.Firewall, hcloud.FirewallUpdateOpts{Name: "b"}))
	if now := must(c.GetByID(ctx, made.Firewall.ID)); now.Name != "b" || len(now.Rules) != 0 || len(now.AppliedTo) != 0 {
		p.Errorf("%+v", now)
	}
	must2(c.All(ctx))
	walkActions(p, c.Action, made.Firewall, fmt.Sprintf("/firewalls/%d", made.Firewall.ID))
	must(0, 0, second(c.Delete(ctx, made.Firewall)))
}

func walkGroups(p *project) {
	ctx, c := p.Context(), p.client.PlacementGroup
	g := must(c.Create(ctx, hcloud.PlacementGroupCreateOpts{Name: "a", Type: hcloud.PlacementGroupTypeSpread})).PlacementGroup
	s := p.server("a", func(o *hcloud.ServerCreateOpts) { o.StartAfterCreate, o.PlacementGroup = hcloud.Ptr(false), g })
	p.wait(append(s.NextActions, s.Action)...)
	p.wait(must(p.client.Server.RemoveFromPlacementGroup(ctx, s.Server)))
	p.wait(must(p.client.Server.AddToPlacementGroup(ctx, s.Server, g)))
	if now := must(c.GetByID(ctx, g.ID)); len(now.Servers) != 1 {
		p.Errorf("%+v", now)
	}
	must(c.Update(ctx, g, hcloud.PlacementGroupUpdateOpts{Name: "b"}))
	must2(c.All(ctx))
	must(0, 0, second(c.Delete(ctx, g)))
	if now := must(p.client.Server.GetByID(ctx, s.Server.ID)); now.PlacementGroup != nil {
		p.Errorf("%+v", now.PlacementGroup)
	}
}

const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBERERERERERERERERERERERERERERERERERERERERER test"

func walkSSHKeys(p *project) {
	ctx, c := p.Context(), p.client.SSHKey
	k := must(c.Create(ctx, hcloud.SSHKeyCreateOpts{Name: "a", PublicKey: publicKey}))
	if by := must(c.GetByFingerprint(ctx, k.Fingerprint)); by == nil || by.ID != k.ID {
		p.Errorf("%+v", by)
	}
	must(c.GetByID(ctx, k.ID))
	must(c.Update(ctx, k, hcloud.SSHKeyUpdateOpts{Name: "b"}))
	s := p.server("a", func(o *hcloud.ServerCreateOpts) { o.SSHKeys = []*hcloud.SSHKey{k} })
	if s.RootPassword != "" {
		p.Error("a server with a key has a password")
	}
	must(0, 0, second(c.Delete(ctx, k)))
}
