package hetznersim_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// ways asks where connections end.
type ways struct{ *project }

// expect compares where a connection from a source ends with an address, or
// with the reason why it does not end anywhere.
func (w ways) expect(what string, from hetznersim.Origin, to, want any) {
	w.Helper()
	ends, err := w.sim.Way(from, netip.MustParseAddrPort(to.(string)))
	switch want := want.(type) {
	case error:
		if !errors.Is(err, want) {
			w.Errorf("%s: %v %v, want %v", what, ends, err, want)
		}
	case string:
		if err != nil || len(ends) != 1 || ends[0] != netip.MustParseAddrPort(want) {
			w.Errorf("%s: %v %v, want %s", what, ends, err, want)
		}
	}
}

func source(text string) hetznersim.Origin {
	return hetznersim.Origin{Address: netip.MustParseAddr(text)}
}

func tcpRule(direction hcloud.FirewallRuleDirection, port string, ranges ...string) hcloud.FirewallRule {
	r := hcloud.FirewallRule{Direction: direction, Protocol: hcloud.FirewallRuleProtocolTCP, Port: hcloud.Ptr(port)}
	for _, text := range ranges {
		if direction == hcloud.FirewallRuleDirectionIn {
			r.SourceIPs = append(r.SourceIPs, *cidr(text))
		} else {
			r.DestinationIPs = append(r.DestinationIPs, *cidr(text))
		}
	}
	return r
}

// TestFirewallsFilter: what the firewalls of a server do to connections to its
// public addresses, and to no others.
func TestFirewallsFilter(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	w := ways{p}
	n := p.network("a")
	s := p.server("a", func(o *hcloud.ServerCreateOpts) {
		o.Networks, o.Labels = []*hcloud.Network{n}, map[string]string{"role": "node"}
	})
	p.wait(append(s.NextActions, s.Action)...)
	have, _, err := p.client.Server.GetByID(t.Context(), s.Server.ID)
	if err != nil {
		t.Fatal(err)
	}
	public, private := have.PublicNet.IPv4.IP.String(), have.PrivateNet[0].IP.String()
	public6 := netip.MustParseAddr(have.PublicNet.IPv6.IP.String()).Next().String()
	api, ssh, api6 := public+":6443", public+":22", net.JoinHostPort(public6, "6443")
	inside, friend, stranger, named := hetznersim.Origin{Private: true}, source("203.0.113.7"), source("198.51.100.1"), hetznersim.Origin{}

	w.expect("without a firewall", stranger, api, api)
	w.expect("nobody's address", stranger, "192.0.2.99:6443", hetznersim.ErrNotInProject)
	w.expect("a private address from outside", stranger, private+":6443", hetznersim.ErrNotInProject)

	empty := p.firewall("empty", []hcloud.FirewallResource{{Type: hcloud.FirewallResourceTypeServer, Server: &hcloud.FirewallResourceServer{ID: have.ID}}})
	for _, from := range []hetznersim.Origin{friend, stranger, named} {
		w.expect("a firewall without rules", from, api, hetznersim.ErrDropped)
	}
	w.expect("IPv6", stranger, api6, hetznersim.ErrDropped)
	w.expect("the private network", inside, private+":6443", private+":6443")
	w.expect("the public address from within", hetznersim.Origin{Address: stranger.Address, Private: true}, api, hetznersim.ErrDropped)

	p.firewall("rules", []hcloud.FirewallResource{{Type: hcloud.FirewallResourceTypeLabelSelector, LabelSelector: &hcloud.FirewallResourceLabelSelector{Selector: "role=node"}}},
		tcpRule(hcloud.FirewallRuleDirectionIn, "6400-6443", "203.0.113.0/24", "2001:db8::/32"),
		tcpRule(hcloud.FirewallRuleDirectionOut, "any", "0.0.0.0/0"))
	w.expect("one of two firewalls lets in", friend, api, api)
	w.expect("whom a rule names", named, api, api)
	w.expect("another source", stranger, api, hetznersim.ErrDropped)
	w.expect("another port", friend, ssh, hetznersim.ErrDropped)
	w.expect("IPv6", source("2001:db8::1"), api6, api6)
	w.expect("a rule for what goes out", stranger, ssh, hetznersim.ErrDropped)

	_, _, err = p.client.Firewall.SetRules(t.Context(), empty, hcloud.FirewallSetRulesOpts{Rules: []hcloud.FirewallRule{
		tcpRule(hcloud.FirewallRuleDirectionIn, "any", "198.51.100.1/32")}})
	if err != nil {
		t.Fatal(err)
	}
	p.pass(time.Minute)
	w.expect("the union of both", stranger, ssh, ssh)
	w.expect("the union of both", friend, api, api)
}

// pass lets time go by.
func (p *project) pass(d time.Duration) {
	p.Helper()
	p.sim.Clock().(*hetznersim.ScriptedClock).Advance(d)
	p.sim.Settle()
}

// firewall makes a firewall, and waits until it is at work.
func (p *project) firewall(name string, on []hcloud.FirewallResource, rules ...hcloud.FirewallRule) *hcloud.Firewall {
	p.Helper()
	made := must(p.client.Firewall.Create(p.Context(), hcloud.FirewallCreateOpts{Name: name, ApplyTo: on, Rules: rules}))
	p.pass(time.Minute)
	return made.Firewall
}

// TestBalancersPassOn: connections to a load balancer end at the targets that run
// and are attached, at their private addresses where they are to, for services
// that there are.
func TestBalancersPassOn(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	w := ways{p}
	n := p.network("a")
	in := func(o *hcloud.ServerCreateOpts) { o.Networks = []*hcloud.Network{n} }
	a, out := p.server("a", in), p.server("out")
	p.pass(time.Minute)
	lb := must(p.client.LoadBalancer.Create(t.Context(), hcloud.LoadBalancerCreateOpts{Name: "lb", LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"},
		Location: &hcloud.Location{Name: "nbg1"}, Network: n})).LoadBalancer
	p.pass(time.Minute)
	lb = must(p.client.LoadBalancer.GetByID(t.Context(), lb.ID))
	node := must(p.client.Server.GetByID(t.Context(), a.Server.ID))
	other := must(p.client.Server.GetByID(t.Context(), out.Server.ID))
	front, within := lb.PublicNet.IPv4.IP.String()+":6443", lb.PrivateNet[0].IP.String()+":6443"
	private, public := node.PrivateNet[0].IP.String()+":7443", other.PublicNet.IPv4.IP.String()+":7443"
	anyone, inside := source("198.51.100.1"), hetznersim.Origin{Private: true}

	w.expect("without services", anyone, front, hetznersim.ErrNoService)
	p.wait(must(p.client.LoadBalancer.AddService(t.Context(), lb, hcloud.LoadBalancerAddServiceOpts{Protocol: hcloud.LoadBalancerServiceProtocolTCP,
		ListenPort: hcloud.Ptr(6443), DestinationPort: hcloud.Ptr(7443)})))
	w.expect("without targets", anyone, front, hetznersim.ErrDropped)
	p.wait(must(p.client.LoadBalancer.AddServerTarget(t.Context(), lb, hcloud.LoadBalancerAddServerTargetOpts{Server: node, UsePrivateIP: hcloud.Ptr(true)})))
	p.firewall("closed", []hcloud.FirewallResource{{Type: hcloud.FirewallResourceTypeServer, Server: &hcloud.FirewallResourceServer{ID: node.ID}}})
	w.expect("in public, to a private address, which nothing filters", anyone, front, private)
	w.expect("within the network", inside, within, private)
	w.expect("its private address, from outside", anyone, within, hetznersim.ErrNotInProject)

	p.wait(must(p.client.Server.Poweroff(t.Context(), node)))
	w.expect("a target that is off", anyone, front, hetznersim.ErrDropped)
	p.wait(must(p.client.LoadBalancer.AddServerTarget(t.Context(), lb, hcloud.LoadBalancerAddServerTargetOpts{Server: other})))
	w.expect("another target, at its public address", anyone, front, public)
	closed := p.firewall("other", []hcloud.FirewallResource{{Type: hcloud.FirewallResourceTypeServer, Server: &hcloud.FirewallResourceServer{ID: other.ID}}})
	w.expect("whose firewall does not let the load balancer in", anyone, front, hetznersim.ErrDropped)
	must(p.client.Firewall.SetRules(t.Context(), closed, hcloud.FirewallSetRulesOpts{Rules: []hcloud.FirewallRule{
		tcpRule(hcloud.FirewallRuleDirectionIn, "7443", lb.PublicNet.IPv4.IP.String()+"/32")}}))
	p.pass(time.Minute)
	w.expect("whose firewall lets the load balancer in", anyone, front, public)
	w.expect("but nobody else", anyone, public, hetznersim.ErrDropped)

	p.wait(must(p.client.Server.Poweron(t.Context(), node)))
	p.wait(must(p.client.LoadBalancer.RemoveServerTarget(t.Context(), lb, other)))
	p.wait(must(p.client.LoadBalancer.DisablePublicInterface(t.Context(), lb)))
	w.expect("a public interface that is disabled", anyone, front, hetznersim.ErrDropped)
	w.expect("which leaves the private one", inside, within, private)
}
