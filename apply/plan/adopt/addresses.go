package adopt

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
)

// addresses says which addresses the nodes of a pool have: by an offset, as far as they
// follow from one.
func (m pools) addresses(nodes []*member, set func(string, any)) {
	votes, offset := map[int]int{}, -1
	for _, n := range nodes {
		o := m.at(n) - n.index
		if o >= 0 {
			votes[o]++
		}
		if o >= 0 && (offset < 0 || votes[o] > votes[offset] || votes[o] == votes[offset] && o < offset) {
			offset = o
		}
	}
	if offset < 0 {
		offset = m.behind(nodes[0])
	}
	if offset > 0 {
		set("offset", offset)
	}
	pinned := map[string]string{}
	for _, n := range nodes {
		if m.at(n)-n.index != offset {
			pinned[strconv.Itoa(n.index)] = n.ip.String()
		}
	}
	if len(pinned) > 0 {
		set("privateIps", pinned)
	}
}

// at is the place of a node in its subnet: its offset plus its index.
func (m pools) at(n *member) int {
	in, err := netip.ParsePrefix(n.subnet)
	if err != nil {
		return 0
	}
	return number(n.ip) - number(in.Masked().Addr()) - 1
}

func number(ip netip.Addr) int {
	four := ip.As4()
	return int(binary.BigEndian.Uint32(four[:]))
}

// behind is an offset behind all nodes of a subnet, in tens; 0 if there is no place.
func (m pools) behind(of *member) int {
	most := 0
	for _, n := range m.members {
		if n.subnet == of.subnet {
			most = max(most, m.at(n))
		}
	}
	in, _ := netip.ParsePrefix(of.subnet)
	if offset := (most + 9) / 10 * 10; offset+len(m.members) < 1<<(32-in.Bits())-8 {
		return offset
	}
	return 0
}

// groups says which placement groups the nodes of a pool are in, where they are not those
// that talosgen would make.
func (m pools) groups(pool string, nodes []*member, set func(string, any)) {
	given, none := map[string]string{}, true
	for _, n := range nodes {
		none = none && n.group == ""
		usual := fmt.Sprintf("%s-%s-pg-%d", m.Cluster, pool, (n.index-1)/10+1)
		switch n.group {
		case usual:
		case "":
			given[strconv.Itoa(n.index)] = "none"
		default:
			given[strconv.Itoa(n.index)] = n.group
		}
	}
	switch {
	case none && !nodes[0].ControlPlane:
		set("placementGroup", false)
	case len(given) > 0:
		set("placementGroups", given)
	}
}
