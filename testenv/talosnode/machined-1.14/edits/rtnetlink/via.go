// Package rtnetlink holds the RTA_VIA attribute of a route, which Talos
// 1.14 uses and the last released github.com/jsimonetti/rtnetlink/v2 lacks.
// testenv/prepare adds this file to a copy of that module.
package rtnetlink

import (
	"encoding/binary"
	"net"
)

// rtaVia is RTA_VIA of linux/rtnetlink.h.
const rtaVia = 18

// RouteVia is a next hop of another address family than the route's own,
// struct rtvia of linux/rtnetlink.h.
type RouteVia struct {
	Family uint16
	Addr   net.IP
}

type byteEncoder interface{ Bytes(typ uint16, b []byte) }

// encode adds the attribute, if there is one.
func (v *RouteVia) encode(attributes byteEncoder) {
	if v == nil {
		return
	}

	attributes.Bytes(rtaVia, append(binary.NativeEndian.AppendUint16(nil, v.Family), v.Addr...))
}
