package address

import (
	"net/netip"
	"testing"
)

func TestRangesAndSubnets(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given Ranges
		want  Ranges
		subs  Subnets
	}{
		{
			"the documented network", Ranges{Network: p("10.0.0.0/16")},
			Ranges{p("10.0.0.0/16"), p("10.0.64.0/19"), p("10.0.96.0/19"), p("10.0.128.0/17"), 0},
			Subnets{p("10.0.64.0/25"), p("10.0.64.128/25"), p("10.0.80.0/25"), p("10.0.80.128/25"), p("10.0.88.0/25")},
		},
		{
			"subnets of another size", Ranges{Network: p("10.0.0.0/16"), SubnetBits: 27},
			Ranges{p("10.0.0.0/16"), p("10.0.64.0/19"), p("10.0.96.0/19"), p("10.0.128.0/17"), 27},
			Subnets{p("10.0.64.0/27"), p("10.0.64.32/27"), p("10.0.80.0/27"), p("10.0.80.32/27"), p("10.0.88.0/27")},
		},
		{
			"nodes at the start of the network", Ranges{Network: p("10.0.0.0/16"), Nodes: p("10.0.0.0/19")},
			Ranges{p("10.0.0.0/16"), p("10.0.0.0/19"), p("10.0.96.0/19"), p("10.0.128.0/17"), 0},
			Subnets{p("10.0.0.128/25"), p("10.0.1.0/25"), p("10.0.16.0/25"), p("10.0.16.128/25"), p("10.0.24.0/25")},
		},
		{
			"services never wider than /12", Ranges{Network: p("10.0.0.0/8")},
			Ranges{p("10.0.0.0/8"), p("10.64.0.0/11"), p("10.96.0.0/12"), p("10.128.0.0/9"), 0},
			Subnets{p("10.64.0.0/17"), p("10.64.128.0/17"), p("10.80.0.0/17"), p("10.80.128.0/17"), p("10.88.0.0/17")},
		},
		{
			"a small network", Ranges{Network: p("192.168.0.0/20")},
			Ranges{p("192.168.0.0/20"), p("192.168.4.0/23"), p("192.168.6.0/23"), p("192.168.8.0/21"), 0},
			Subnets{p("192.168.4.0/29"), p("192.168.4.8/29"), p("192.168.5.0/29"), p("192.168.5.8/29"), p("192.168.5.128/29")},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ResolveRanges(tt.given)
			if err != nil || got != tt.want {
				t.Errorf("ranges %v, %v; want %v", got, err, tt.want)
			}
			subs, err := ResolveSubnets(got)
			if err != nil || subs != tt.subs {
				t.Errorf("subnets %v, %v; want %v", subs, err, tt.subs)
			}
		})
	}
}

func TestWellKnownAddresses(t *testing.T) {
	r, err := ResolveRanges(Ranges{Network: p("10.0.0.0/16")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := ResolveSubnets(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		get  func() (netip.Addr, error)
		want string
	}{
		{"gateway", r.Gateway, "10.0.0.1"},
		{"control plane VIP", s.ControlPlaneVIP, "10.0.64.126"},
		{"API load balancer", s.APILoadBalancer, "10.0.64.254"},
		{"NAT gateway", s.NATGateway, "10.0.64.253"},
		{"second NAT gateway", s.StandbyGateway, "10.0.64.252"},
		{"first ingress pool", func() (netip.Addr, error) { return s.IngressPool(0) }, "10.0.64.251"},
		{"third ingress pool", func() (netip.Addr, error) { return s.IngressPool(2) }, "10.0.64.249"},
		{"first control plane", func() (netip.Addr, error) { return OfNode(s.ControlPlane, 0, 1) }, "10.0.64.2"},
		{"a worker behind an offset", func() (netip.Addr, error) { return OfNode(s.Workers, 20, 3) }, "10.0.80.24"},
	} {
		got, err := tt.get()
		if err != nil || got.String() != tt.want {
			t.Errorf("%s: %v, %v; want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestWhatDoesNotFit(t *testing.T) {
	for _, r := range []Ranges{
		{Network: p("10.0.0.0/31")},
		{Network: p("10.0.0.0/30")},
	} {
		if got, err := ResolveRanges(r); err == nil {
			t.Errorf("%v gives %v", r, got)
		}
	}
	for _, r := range []Ranges{
		{p("10.0.0.0/16"), p("10.0.64.0/24"), p("10.0.96.0/19"), p("10.0.128.0/17"), 0},
		{p("10.0.0.0/16"), p("10.0.64.0/19"), p("10.0.96.0/19"), p("10.0.128.0/25"), 0},
	} {
		if got, err := ResolveSubnets(r); err == nil {
			t.Errorf("%v gives %v", r, got)
		}
	}
	if a, err := OfNode(p("10.0.80.0/25"), 100, 23); err == nil {
		t.Errorf("an address beyond the subnet's nodes: %s", a)
	}
}

func p(s string) netip.Prefix { return netip.MustParsePrefix(s) }
