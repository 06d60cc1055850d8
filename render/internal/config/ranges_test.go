package config

import (
	"fmt"
	"strings"
	"testing"
)

// The values that hcloud-k8s documents for its formulas, and the same for other
// networks.
func TestHetznerRanges(t *testing.T) {
	for _, tt := range []struct{ network, want string }{
		{"", "10.0.64.0/19 10.0.96.0/19 10.0.128.0/17"},
		{"cidr: 10.0.0.0/16", "10.0.64.0/19 10.0.96.0/19 10.0.128.0/17"},
		{"cidr: 10.0.0.0/8", "10.64.0.0/11 10.96.0.0/12 10.128.0.0/9"},
		{"cidr: 192.168.0.0/20", "192.168.4.0/23 192.168.6.0/23 192.168.8.0/21"},
		{"cidr: 10.0.0.0/16, podCidrs: [10.1.0.0/16]", "10.0.64.0/19 10.0.96.0/19 10.1.0.0/16"},
		{"nodeCidrs: [10.0.0.0/19], serviceCidrs: []", "10.0.0.0/19 10.0.96.0/19 10.0.128.0/17"},
	} {
		n := load(t, minimal("network: {"+tt.network+"}\n")).Network
		got := strings.Join([]string{n.NodeCidrs[0], n.ServiceCidrs[0], n.PodCidrs[0]}, " ")
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.network, got, tt.want)
		}
	}
}

func TestNetworkDefaults(t *testing.T) {
	describe := func(c *Config) string {
		n, f := c.Network, c.Hetzner.Firewall
		return fmt.Sprint(n.MTU, " ", n.NativeRoutingCIDR, " nat=", *n.NATGateway.Enabled, " lb=", *c.Hetzner.APILoadBalancer.PublicNetwork,
			" zone=", c.Hetzner.NetworkZone, " current=", *f.UseCurrentIPv4, *f.UseCurrentIPv6, " kube=", f.KubeAPISource, " talos=", f.TalosAPISource)
	}
	for _, tt := range []struct{ extra, want string }{
		{"", "1450 10.0.0.0/16 nat=false lb=true zone=eu-central current=true true kube=[] talos=[]"},
		{"access: private\n", "1450 10.0.0.0/16 nat=false lb=false zone=eu-central current=false false kube=[] talos=[]"},
		{"network: {publicIpv4: false, vswitch: {id: 7}}\n", "1400 10.0.0.0/16 nat=true lb=true zone=eu-central current=true true kube=[] talos=[]"},
		{"network: {cidr: 10.8.0.0/16, mtu: 1300, nativeRoutingCidr: 10.0.0.0/8}\n", "1300 10.0.0.0/8 nat=false lb=true zone=eu-central current=true true kube=[] talos=[]"},
	} {
		if got := describe(load(t, minimal(tt.extra))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.extra, got, tt.want)
		}
	}
	for _, tt := range []struct{ firewall, want string }{
		{"apiSource: [10.9.0.0/16]", "[10.9.0.0/16] [10.9.0.0/16] false"},
		{"apiSource: [10.9.0.0/16], talosApiSource: [10.8.0.0/16]", "[10.9.0.0/16] [10.8.0.0/16] false"},
		{"kubeApiSource: [10.9.0.0/16], useCurrentIpv4: true", "[10.9.0.0/16] [] true"},
	} {
		text := strings.Replace(minimal(""), "{region: hel1}", "{region: ash, firewall: {"+tt.firewall+"}}", 1)
		c := load(t, text)
		f := c.Hetzner.Firewall
		if got := fmt.Sprint(f.KubeAPISource, f.TalosAPISource, *f.UseCurrentIPv4); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.firewall, got, tt.want)
		}
		if c.Hetzner.NetworkZone != "us-east" {
			t.Errorf("ash is in %s", c.Hetzner.NetworkZone)
		}
	}
}
