package config

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// coupledZone is the only network zone whose subnets a vSwitch can be coupled with.
const coupledZone = "eu-central"

// isDedicated tells whether the pool of workers at a path lists machines beside servers of
// Hetzner Cloud: dedicated servers.
func isDedicated(c *Config, path []string) bool {
	return c.Provider == schemas.Hetzner && c.has(sub(path, "nodes")...)
}

// dedicatedIndexes are those of servers whose addresses follow from the offset.
func (p pool) dedicatedIndexes() (indexes []int) {
	for _, n := range p.Nodes {
		if n.PrivateIP == "" && n.Index > 0 {
			indexes = append(indexes, n.Index)
		}
	}
	slices.Sort(indexes)
	return indexes
}

// dedicatedRules are about pools of dedicated servers, which a vSwitch connects with the
// network.
type dedicatedRules struct {
	*reporter
	pools []pool // all
}

func (ch dedicatedRules) check() {
	at := ch.first()
	if at == nil {
		return
	}
	ch.checkVSwitch(at)
	ch.checkRouting(at)
	ch.checkRobot()
	u := claims{ch.reporter, map[string]string{}}
	for _, n := range slices.Concat(ch.nodes, ch.surge) {
		if !n.Dedicated {
			u.owners["name "+n.Name] = join(n.paths[0])
		}
	}
	for _, n := range ch.nodes {
		if n.Dedicated {
			ch.checkServer(n, u)
		}
	}
}

// first is where the first of the pools lists its servers; nil if there is none.
func (ch dedicatedRules) first() []string {
	for _, p := range ch.pools {
		if p.dedicated {
			return sub(p.path, "nodes")
		}
	}
	return nil
}

// checkVSwitch makes sure that the servers are connected.
func (ch dedicatedRules) checkVSwitch(at []string) {
	if ch.Network.VSwitch.ID == 0 && !ch.has(keys("network.vswitch.id")...) {
		ch.fail("make one at Hetzner Robot, put the servers into it, and give network.vswitch: {id: …, vlanId: …}", at,
			"dedicated servers reach the private network through a vSwitch, and network.vswitch has no id")
	}
	if zone := ch.Hetzner.NetworkZone; zone != "" && zone != coupledZone {
		ch.fail("move the cluster to fsn1, nbg1 or hel1, or have a cluster of its own for these servers", at,
			"a vSwitch is coupled with networks in %s alone, and this one is in %s", coupledZone, zone)
	}
}

// checkRouting makes sure that packets between pods find their way: the cloud controller
// makes no routes to dedicated servers.
func (ch dedicatedRules) checkRouting(at []string) {
	if ch.CNI.Type == Cilium && ch.CNI.RoutingMode == "native" {
		ch.fail("set cni.routingMode: tunnel", at, "the network of Hetzner Cloud has no routes to the pods of dedicated servers, and Cilium routes natively")
	}
}

// checkRobot makes sure that the cloud controller knows the servers.
func (ch dedicatedRules) checkRobot() {
	ccm := ch.Cluster.Addons["hcloud-ccm"].Enabled
	if !*ch.Kubernetes.ExternalCloudProvider || ccm != nil && !*ccm || ch.Hetzner.Robot.UserVariable != "" || ch.has(keys("hetzner.robot.userVariable")...) {
		return
	}
	ch.fail("give hetzner.robot: {userVariable: ROBOT_USER, passwordVariable: ROBOT_PASSWORD}, and name the nodes as the servers are named there", keys("hetzner.robot"),
		"the cloud controller knows dedicated servers by Hetzner Robot alone: without an account their nodes never become ready")
}

// checkServer checks a dedicated server.
func (ch dedicatedRules) checkServer(n Node, u claims) {
	own := n.paths[0]
	at := func(path ...string) []string { return slices.Concat(own, path) }
	nodeRules{ch.reporter}.checkMachine(n, u)
	for key, hint := range map[string]string{
		"vlanId": "network.vswitch.vlanId says it for all of them", "mtu": "network.mtu says it for the private network, 1400 with a vSwitch",
		"platform": "dedicated servers are metal", "overlay": "dedicated servers are metal",
	} {
		if ch.has(at(key)...) {
			ch.fail(hint, at(key), "%s is not for dedicated servers", key)
		}
	}
	switch index, ip := ch.has(at("index")...), ch.has(at("privateIp")...); {
	case index && ip:
		ch.fail("the address is enough", at("index"), "index and privateIp exclude each other")
	case !index && !ip:
		ch.fail(ch.indexHint(n), own, "nothing says which address %s has in the private network", n.Name)
	}
	if n.Interface == "" && !ch.has(at("interface")...) && !ch.has(at("match", "mac")...) {
		ch.fail("give interface, or match.mac", own, "the vSwitch is reached by a network link, and nothing says which")
	}
}

// indexHint names an index that is free in the pool of a server.
func (ch dedicatedRules) indexHint(n Node) string {
	i := slices.IndexFunc(ch.pools, func(p pool) bool { return p.name == n.Pool })
	free := 1
	if all := ch.pools[i].dedicatedIndexes(); len(all) > 0 {
		free = all[len(all)-1] + 1
	}
	return "for example index: " + strconv.Itoa(free) + ", which is free in the pool; it stays with the server, so that its address does"
}

// notDedicated are options of pools that mean nothing for dedicated servers.
var notDedicated = slices.DeleteFunc(slices.Clone(hetznerPoolOnly), func(key string) bool { return key == "offset" })

// checkDedicatedPool checks a pool of dedicated servers by itself.
func (ch poolRules) checkDedicatedPool(p pool) {
	for _, key := range append(slices.Clip(notDedicated), "platform", "overlay") {
		if at := sub(p.path, key); ch.has(at...) {
			ch.fail("dedicated servers exist already: nodes lists them. For servers of Hetzner Cloud make a pool of its own", at, "%s is not for a pool with nodes", key)
		}
	}
	if len(p.Nodes) == 0 {
		ch.fail("nodes: [{name: …, match: {mac: …}, bootAddress: …, index: 1}]", sub(p.path, "nodes"), "%s has no nodes", display(p.path))
	}
	first := map[int]int{}
	for i, n := range p.Nodes {
		at := sub(sub(sub(p.path, "nodes"), strconv.Itoa(i)), "index")
		if before, twice := first[n.Index]; twice && n.Index != 0 {
			other := sub(sub(p.path, "nodes"), strconv.Itoa(before))
			ch.fail("the first one is on "+onLine(ch.Config, ch.Pos(other...)), at, "a second server with the index %d", n.Index)
			continue
		}
		first[n.Index] = i
	}
}

// checkNotDedicated refuses what is for dedicated servers alone, elsewhere.
func (ch nodeRules) checkNotDedicated(at func(...string) []string) {
	for _, key := range []string{"index", "privateIp"} {
		if ch.has(at(key)...) {
			ch.fail("address gives the machine its address", at(key), "%s is not for provider static", key)
		}
	}
}

// dedicatedAddress is the private address that the file gives to a server, as
// [pool.pinnedIP].
func dedicatedAddress(n schemas.StaticNode) netip.Addr {
	ip, _ := netip.ParseAddr(n.PrivateIP)
	return ip
}

// PrivateGateway is the address by which a vSwitch reaches the rest of the network: the
// first of its subnet.
func PrivateGateway(c *Config) (netip.Addr, error) {
	first := c.shared.BareMetal.Masked().Addr()
	if !first.IsValid() {
		return first, diag.On("network.vswitch", "has no subnet")
	}
	return first.Next(), nil
}
