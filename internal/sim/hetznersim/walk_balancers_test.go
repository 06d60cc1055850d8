package hetznersim_test

import (
	"fmt"
	"net"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

func walkBalancers(p *project) {
	ctx, c := p.Context(), p.client.LoadBalancer
	n := p.network("a")
	s := p.running("a", func(o *hcloud.ServerCreateOpts) { o.Networks = []*hcloud.Network{n} })
	made := must(c.Create(ctx, hcloud.LoadBalancerCreateOpts{Name: "a", LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"},
		Location: &hcloud.Location{Name: "nbg1"}, Network: n,
		Services: []hcloud.LoadBalancerCreateOptsService{{Protocol: hcloud.LoadBalancerServiceProtocolTCP, ListenPort: hcloud.Ptr(6443),
			DestinationPort: hcloud.Ptr(6443), HealthCheck: &hcloud.LoadBalancerCreateOptsServiceHealthCheck{
				Protocol: hcloud.LoadBalancerServiceProtocolHTTP, Port: hcloud.Ptr(6443), Interval: hcloud.Ptr(5 * time.Second), Timeout: hcloud.Ptr(3 * time.Second),
				Retries: hcloud.Ptr(3), HTTP: &hcloud.LoadBalancerCreateOptsServiceHealthCheckHTTP{Path: hcloud.Ptr("/version"), TLS: hcloud.Ptr(true)}}}}}))
	p.wait(made.Action)
	b := made.LoadBalancer
	p.wait(must(c.AddServerTarget(ctx, b, hcloud.LoadBalancerAddServerTargetOpts{Server: s, UsePrivateIP: hcloud.Ptr(true)})))
	b = must(c.GetByID(ctx, b.ID))
	if b.PrivateNet[0].IP.String() != "10.0.1.2" || b.Services[0].HealthCheck.HTTP.Path != "/version" || b.PublicNet.IPv4.IP == nil ||
		len(b.Targets) != 1 || b.Targets[0].Server.Server.ID != s.ID || b.Targets[0].HealthStatus[0].Status != hcloud.LoadBalancerTargetHealthStatusStatusUnknown {
		p.Errorf("%+v", b)
	}
	p.sim.Clock().(*hetznersim.ScriptedClock).Advance(1e11)
	b = must(c.GetByName(ctx, "a"))
	if b.Targets[0].HealthStatus[0].Status != hcloud.LoadBalancerTargetHealthStatusStatusHealthy {
		p.Errorf("%+v", b.Targets[0].HealthStatus)
	}
	_, _, err := p.client.Server.DetachFromNetwork(ctx, s, hcloud.ServerDetachFromNetworkOpts{Network: n})
	p.refused(err, hcloud.ErrorCodeServiceError)
	_, _, err = c.DetachFromNetwork(ctx, b, hcloud.LoadBalancerDetachFromNetworkOpts{Network: n})
	p.refused(err, hcloud.ErrorCodeServiceError)
	p.walkBalancer(b, n, s)
	p.wait(must(c.DeleteWithResult(ctx, b)).Action)
	if b := must(c.GetByID(ctx, b.ID)); b != nil {
		p.Error("not deleted")
	}
}

// walkBalancer changes all that can be changed.
func (p *project) walkBalancer(b *hcloud.LoadBalancer, n *hcloud.Network, s *hcloud.Server) {
	ctx, c := p.Context(), p.client.LoadBalancer
	p.wait(must(c.DisablePublicInterface(ctx, b)))
	p.wait(must(c.EnablePublicInterface(ctx, b)))
	p.wait(must(c.RemoveServerTarget(ctx, b, s)))
	p.wait(must(c.AddLabelSelectorTarget(ctx, b, hcloud.LoadBalancerAddLabelSelectorTargetOpts{Selector: "!none", UsePrivateIP: hcloud.Ptr(true)})))
	if now := must(c.GetByID(ctx, b.ID)); len(now.Targets[0].Targets) != 1 {
		p.Errorf("%+v", now.Targets[0])
	}
	p.wait(must(c.RemoveLabelSelectorTarget(ctx, b, "!none")))
	_, _, err := c.AddIPTarget(ctx, b, hcloud.LoadBalancerAddIPTargetOpts{IP: net.ParseIP("192.0.2.1")})
	p.refused(err, hcloud.ErrorCodeIPNotOwned)
	p.wait(must(c.AddService(ctx, b, hcloud.LoadBalancerAddServiceOpts{Protocol: hcloud.LoadBalancerServiceProtocolHTTP,
		ListenPort: hcloud.Ptr(80), DestinationPort: hcloud.Ptr(80)})))
	p.wait(must(c.UpdateService(ctx, b, 80, hcloud.LoadBalancerUpdateServiceOpts{DestinationPort: hcloud.Ptr(81)})))
	p.wait(must(c.DeleteService(ctx, b, 80)))
	p.wait(must(c.ChangeAlgorithm(ctx, b, hcloud.LoadBalancerChangeAlgorithmOpts{Type: hcloud.LoadBalancerAlgorithmTypeLeastConnections})))
	p.wait(must(c.ChangeType(ctx, b, hcloud.LoadBalancerChangeTypeOpts{LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb21"}})))
	p.wait(must(c.ChangeDNSPtr(ctx, b, b.PublicNet.IPv6.IP.String(), hcloud.Ptr("lb.example.com"))))
	p.wait(must(c.DetachFromNetwork(ctx, b, hcloud.LoadBalancerDetachFromNetworkOpts{Network: n})))
	p.wait(must(c.AttachToNetwork(ctx, b, hcloud.LoadBalancerAttachToNetworkOpts{Network: n, IP: net.ParseIP("10.0.1.200")})))
	p.wait(must(c.ChangeProtection(ctx, b, hcloud.LoadBalancerChangeProtectionOpts{Delete: hcloud.Ptr(false)})))
	must(c.Update(ctx, b, hcloud.LoadBalancerUpdateOpts{Name: "b"}))
	must2(c.All(ctx))
	now := must(c.GetByID(ctx, b.ID))
	if now.PublicNet.IPv6.DNSPtr != "lb.example.com" || now.PrivateNet[0].IP.String() != "10.0.1.200" || now.LoadBalancerType.Name != "lb21" ||
		now.Algorithm.Type != hcloud.LoadBalancerAlgorithmTypeLeastConnections || len(now.Services) != 1 || len(now.Targets) != 0 {
		p.Errorf("%+v", now)
	}
	walkActions(p, c.Action, b, fmt.Sprintf("/load_balancers/%d", b.ID))
}

func walkAddresses(p *project) {
	ctx, c := p.Context(), p.client
	s := p.running("a")
	made := must(c.FloatingIP.Create(ctx, hcloud.FloatingIPCreateOpts{Type: hcloud.FloatingIPTypeIPv4, Server: s, Name: hcloud.Ptr("a")}))
	p.wait(made.Action)
	f := made.FloatingIP
	p.wait(must(c.FloatingIP.ChangeDNSPtr(ctx, f, f.IP.String(), hcloud.Ptr("f.example.com"))))
	p.wait(must(c.FloatingIP.Unassign(ctx, f)))
	p.wait(must(c.FloatingIP.Assign(ctx, f, s)))
	if now := must(c.FloatingIP.GetByID(ctx, f.ID)); now.Server.ID != s.ID || now.DNSPtr[f.IP.String()] != "f.example.com" || now.HomeLocation.Name != "nbg1" {
		p.Errorf("%+v", now)
	}
	p.wait(must(c.FloatingIP.ChangeProtection(ctx, f, hcloud.FloatingIPChangeProtectionOpts{Delete: hcloud.Ptr(false)})))
	must(c.FloatingIP.Update(ctx, f, hcloud.FloatingIPUpdateOpts{Description: "x"}))
	must2(c.FloatingIP.All(ctx))
	walkActions(p, c.FloatingIP.Action, f, fmt.Sprintf("/floating_ips/%d", f.ID))
	p.wait(must(c.FloatingIP.Unassign(ctx, f)))
	must(0, 0, second(c.FloatingIP.Delete(ctx, f)))
	p.walkPrimary(s)
}

func (p *project) walkPrimary(s *hcloud.Server) {
	ctx, c := p.Context(), p.client.PrimaryIP
	ip := must(c.Create(ctx, hcloud.PrimaryIPCreateOpts{Name: "a", Type: hcloud.PrimaryIPTypeIPv4, Location: "nbg1", AssigneeType: "server"})).PrimaryIP
	p.wait(must(p.client.Server.Poweroff(ctx, s)))
	p.wait(must(c.Unassign(ctx, s.PublicNet.IPv4.ID)))
	p.wait(must(c.Assign(ctx, hcloud.PrimaryIPAssignOpts{ID: ip.ID, AssigneeID: s.ID, AssigneeType: "server"})))
	p.wait(must(c.ChangeDNSPtr(ctx, hcloud.PrimaryIPChangeDNSPtrOpts{ID: ip.ID, IP: ip.IP.String(), DNSPtr: "p.example.com"})))
	p.wait(must(c.ChangeProtection(ctx, hcloud.PrimaryIPChangeProtectionOpts{ID: ip.ID, Delete: false})))
	must(c.Update(ctx, ip, hcloud.PrimaryIPUpdateOpts{Name: "b"}))
	if now := must(c.GetByIP(ctx, ip.IP.String())); now.AssigneeID != s.ID || now.AssigneeType != "server" || now.DNSPtr[ip.IP.String()] != "p.example.com" {
		p.Errorf("%+v", now)
	}
	_, err := c.Delete(ctx, ip)
	p.refused(err, "must_be_unassigned")
	must(c.GetByID(ctx, ip.ID))
	walkActions(p, c.Action, ip, fmt.Sprintf("/primary_ips/%d", ip.ID))
	p.wait(must(c.Unassign(ctx, ip.ID)))
	must(0, 0, second(c.Delete(ctx, ip)))
}
