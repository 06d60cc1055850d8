package config

import (
	"encoding/binary"
	"net/netip"

	"github.com/talosgen/talosgen/schemas"
)

// defaultNetwork is the private network on Hetzner Cloud.
const defaultNetwork = "10.0.0.0/16"

// widestServices is the prefix of the widest range of service addresses:
// Kubernetes allows 20 bits of them.
const widestServices = 12

// setRanges fills in the ranges that the file leaves open. On Hetzner they are
// parts of the private network: nodes the third eighth, services the fourth,
// pods the second half. Elsewhere they are those that Talos has by default.
func (ch *checker) setRanges() {
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

func (ch *checker) setHetznerRanges() {
	n := &ch.Network
	if !ch.has("network", "cidr") {
		n.CIDR = defaultNetwork
	}
	network, err := netip.ParsePrefix(n.CIDR)
	if err != nil || !network.Addr().Is4() || network.Bits() > smallestNetwork {
		return // reported already, or by checkPrivateNetwork
	}
	services := part(network, 3, 3)
	if services.Bits() < widestServices {
		services = netip.PrefixFrom(services.Addr(), widestServices)
	}
	setList(&n.NodeCidrs, part(network, 3, 2).String())
	setList(&n.ServiceCidrs, services.String())
	setList(&n.PodCidrs, part(network, 1, 1).String())
	if !ch.has("network", "nativeRoutingCidr") {
		n.NativeRoutingCIDR = n.CIDR
	}
}

// setList fills in a list that is empty.
func setList(list *[]string, value string) {
	if len(*list) == 0 {
		*list = []string{value}
	}
}

// part is one of the equal parts of an IPv4 range: number n of 2^bits.
func part(of netip.Prefix, bits, n int) netip.Prefix {
	length := of.Bits() + bits
	start := of.Masked().Addr().As4()
	binary.BigEndian.PutUint32(start[:], binary.BigEndian.Uint32(start[:])+uint32(n)<<(32-length))
	return netip.PrefixFrom(netip.AddrFrom4(start), length)
}
