package config

import (
	"net/netip"

	"github.com/talosgen/talosgen/render/internal/address"
	"github.com/talosgen/talosgen/schemas"
)

// defaultNetwork is the private network on Hetzner Cloud.
const defaultNetwork = "10.0.0.0/16"

// setRanges fills in the ranges that the file leaves open. On Hetzner they are
// parts of the private network: see [address.ResolveRanges]. Elsewhere they are
// those that Talos has by default.
func (ch completer) setRanges() {
	n := &ch.Network
	if ch.Provider == schemas.Hetzner {
		ch.setHetznerRanges()
		return
	}
	pods, services := "10.244.0.0/16", "10.96.0.0/12"
	if ch.endpointHost().Is6() {
		pods, services = "fc00:db8:10::/56", "fc00:db8:20::/112"
	}
	setList(&n.PodCidrs, pods)
	setList(&n.ServiceCidrs, services)
}

func (ch completer) setHetznerRanges() {
	n := &ch.Network
	if !ch.has("network", "cidr") {
		n.CIDR = defaultNetwork
	}
	network, err := netip.ParsePrefix(n.CIDR)
	if err != nil || !network.Addr().Is4() || network.Bits() > smallestNetwork {
		return // reported already, or by checkPrivateNetwork
	}
	r, err := address.ResolveRanges(address.Ranges{
		Network: network, Nodes: firstIPv4(n.NodeCidrs), Services: firstIPv4(n.ServiceCidrs), Pods: firstIPv4(n.PodCidrs),
		SubnetBits: n.NodeSubnetMaskSize,
	})
	if err != nil {
		return // cannot be, for a network of that size
	}
	setList(&n.NodeCidrs, r.Nodes.String())
	setList(&n.ServiceCidrs, r.Services.String())
	setList(&n.PodCidrs, r.Pods.String())
	if !ch.has("network", "nativeRoutingCidr") {
		n.NativeRoutingCIDR = n.CIDR
	}
	ch.ranges = r
	if ch.givenSubnets() {
		return
	}
	if ch.shared, err = address.ResolveSubnets(r); err != nil {
		ch.failSubnets(err)
	}
}

// failSubnets reports ranges that have no place for subnets of nodes, at what
// the file says of them.
func (ch completer) failSubnets(err error) {
	at := keys("network.cidr")
	for _, key := range []string{"nodeSubnetMaskSize", "nodeCidrs", "podCidrs"} {
		if own := sub(at[:1], key); ch.has(own...) {
			at = own
			break
		}
	}
	ch.fail("10.0.0.0/16 has place for 128 nodes", at, "%v", err)
}

// firstIPv4 is the first IPv4 range of a list; zero if there is none.
func firstIPv4(texts []string) netip.Prefix {
	for _, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil && p.Addr().Is4() {
			return p
		}
	}
	return netip.Prefix{}
}

// setList fills in a list that is empty.
func setList(list *[]string, value string) {
	if len(*list) == 0 {
		*list = []string{value}
	}
}
