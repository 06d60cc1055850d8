package address

import (
	"encoding/binary"
	"net/netip"
)

// PlaceOf is the place of an address in a subnet that holds it, as [Places] count them:
// that of a node whose pool has no offset is its index.
func PlaceOf(in netip.Prefix, ip netip.Addr) int {
	first, own := in.Masked().Addr().As4(), ip.As4()
	return int(binary.BigEndian.Uint32(own[:])-binary.BigEndian.Uint32(first[:])) - 1
}

// Reserved says whose an address in a subnet is that no node can have; empty if one can.
func Reserved(r Ranges, s Subnets, in netip.Prefix, ip netip.Addr) string {
	last, err := host(in, -1)
	switch {
	case ip == in.Masked().Addr() || err == nil && ip == last:
		return "no address of a node: it is the first or last of the subnet"
	}
	if gateway, err := r.Gateway(); err == nil && ip == gateway {
		return "the gateway of the network"
	}
	if vip, err := s.ControlPlaneVIP(); err == nil && ip == vip {
		return "the one that control plane nodes share"
	}
	return ""
}
