package config

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/render/internal/address"
)

// pinnedIP is the address that the file gives to the node with an index; the zero value
// if it follows from the offset, or was reported already.
func (p pool) pinnedIP(index int) netip.Addr {
	ip, _ := netip.ParseAddr(p.PrivateIPs[strconv.Itoa(index)])
	return ip
}

// counted are the indexes of the nodes whose addresses follow from the offset, also of
// those that are there for a time.
func (p pool) counted() []int {
	if p.dedicated {
		return p.dedicatedIndexes()
	}
	return slices.DeleteFunc(append(p.indexNumbers(), p.surgeIndexes()...), func(i int) bool { return p.pinnedIP(i).IsValid() })
}

// pinnedPlaces are the places in the subnet of a pool that the file gives to nodes, as
// [address.Places] has them.
func pinnedPlaces(c *Config, p pool) (places []int) {
	in := c.subnetOf(p.subnet, p.role)
	given := slices.Collect(maps.Values(p.PrivateIPs))
	for _, n := range p.Nodes {
		given = append(given, n.PrivateIP)
	}
	for _, text := range given {
		if ip, err := netip.ParseAddr(text); err == nil && in.IsValid() && in.Contains(ip) {
			places = append(places, address.PlaceOf(in, ip))
		}
	}
	slices.Sort(places)
	return places
}

// checkPrivateIPs makes sure that addresses that the file gives can be those of nodes,
// and that no other node has one of them.
func (ch addressRules) checkPrivateIPs() {
	for _, p := range ch.pools {
		for _, index := range sortedKeys(p.PrivateIPs) {
			ch.checkPrivateIP(p, index, sub(sub(p.path, "privateIps"), index))
		}
		for i, n := range p.Nodes {
			ch.checkGivenIP(p, n.PrivateIP, sub(sub(sub(p.path, "nodes"), strconv.Itoa(i)), "privateIp"))
		}
	}
	if ch.overlapping {
		return
	}
	owners := map[netip.Addr]Node{}
	for _, n := range slices.Concat(ch.nodes, ch.surge) {
		first, taken := owners[n.PrivateIP]
		switch {
		case !n.PrivateIP.IsValid():
		case !taken:
			owners[n.PrivateIP] = n
		case n.Pinned || first.Pinned:
			ch.failTwice(first, n)
		}
	}
}

func (ch addressRules) failTwice(first, second Node) {
	if !second.Pinned {
		first, second = second, first
	}
	at := sub(sub(second.paths[0], "privateIps"), strconv.Itoa(second.Index))
	if second.Dedicated {
		at = sub(second.paths[0], "privateIp")
	}
	hint := "give one of them another address"
	if !first.Pinned {
		hint = "the other one has it by its offset and index: give one of them another address in privateIps, or the pool another offset"
	}
	ch.fail(hint, at, "%s and %s have the same address, %s", first.Name, second.Name, second.PrivateIP)
}

func (ch addressRules) checkPrivateIP(p pool, index string, at []string) {
	ip, ok := ch.checkGivenIP(p, p.PrivateIPs[index], at)
	if !ok {
		return
	}
	if i, err := strconv.Atoi(index); err == nil && !slices.Contains(p.indexNumbers(), i) {
		ch.warn("a node with that index gets it; remove the line if there will be none", at, "the pool has no node %s, whose address is %s", index, ip)
	}
}

// checkGivenIP makes sure that an address can be that of a node.
func (ch addressRules) checkGivenIP(p pool, text string, at []string) (ip netip.Addr, ok bool) {
	ip, err := netip.ParseAddr(text)
	in := ch.subnetOf(p.subnet, p.role)
	if err != nil || !in.IsValid() {
		return ip, false // absent, or reported already
	}
	if !in.Contains(ip) {
		hint := "an address of the subnet; a pool of workers can have a subnet of its own"
		if p.dedicated {
			hint = "an address of the subnet behind the vSwitch"
		}
		ch.fail(hint, at, "%s is not in the subnet of the pool, %s", ip, in)
		return ip, false
	}
	why := address.Reserved(ch.ranges, ch.shared, in, ip)
	if gateway, err := PrivateGateway(ch.Config); err == nil && p.dedicated && ip == gateway {
		why = "the gateway of the vSwitch"
	}
	if why != "" {
		ch.fail("choose another one", at, "%s is %s", ip, why)
	}
	return ip, why == ""
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
