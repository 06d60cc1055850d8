package config

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// hetznerRules are about what only Hetzner Cloud has.
type hetznerRules struct {
	*reporter
	pools []pool
}

func (ch hetznerRules) check() {
	ch.checkZone()
	for _, p := range ch.pools {
		if !p.dedicated {
			ch.checkServers(p)
			ch.checkVolumes(p)
		}
	}
	ch.checkVolumeNames()
	ch.checkGiven()
	ch.checkServerLimit()
	ch.checkPlaces()
	ch.checkReach()
	ch.checkGateway()
	ch.checkStandby()
	ch.checkEndpoint()
	ch.unique(keys("hetzner.dns.records"), "name", namesOf(ch.Hetzner.DNS.Records, func(r schemas.DNSRecord) string {
		if r.Name == "" || r.Zone == "" {
			return "" // reported already
		}
		return r.Name + " in " + r.Zone
	}))
	ch.checkFloatingIP()
	ch.checkCloudAddons()
	robot, at := ch.Hetzner.Robot, keys("hetzner.robot")
	if (robot.UserVariable == "") != (robot.PasswordVariable == "") {
		ch.fail("", at, "userVariable and passwordVariable belong together")
	}
	ch.variable(sub(at, "userVariable"), robot.UserVariable, false)
	ch.variable(sub(at, "passwordVariable"), robot.PasswordVariable, true)
	if e := ch.Network.Existing; e.ID != 0 && e.Name != "" {
		ch.fail("the id is enough", keys("network.existing.name"), "the existing network has both an id and a name")
	}
}

// checkZone warns of a zone that Hetzner does not have.
func (ch hetznerRules) checkZone() {
	zone, at := ch.Hetzner.NetworkZone, keys("hetzner.networkZone")
	known := networkZones()
	switch {
	case ch.has(at...) && zone != "" && !slices.Contains(known, zone):
		ch.warn(diag.Suggest(zone, known), at, "unknown network zone %q", zone)
	case zone == "" && !ch.has(at...) && ch.has(keys("hetzner.region")...) && ch.Hetzner.Region != "":
		ch.fail("for example networkZone: eu-central", keys("hetzner.region"), "the network zone of %s is not known; hetzner.networkZone is required", ch.Hetzner.Region)
	}
}

// checkServers checks the types and locations of a pool.
func (ch hetznerRules) checkServers(p pool) {
	at := func(key string) []string { return sub(p.path, key) }
	if !ch.has(p.path...) {
		return // reported already
	}
	if p.Type == "" && !ch.has(at("type")...) {
		ch.fail("for example type: cpx22", p.path, "%s has no type", display(p.path))
	}
	if ch.has(at("location")...) && ch.has(at("locations")...) {
		ch.fail("locations are in turn by index; remove one of them", at("locations"), "location and locations exclude each other")
	}
	if p.KeepPrimaryIPs && !ch.Network.PublicIPv4 && !ch.Network.PublicIPv6 {
		ch.warn("see network.publicIpv4 and network.publicIpv6", at("keepPrimaryIps"), "the servers have no public addresses to keep")
	}
	where := p.Locations
	if len(where) == 0 {
		where = []string{p.Location}
	}
	warnRemoved(ch.reporter, p.Type, where, at("type"))
	for i, t := range p.FallbackTypes {
		item := sub(at("fallbackTypes"), strconv.Itoa(i))
		warnRemoved(ch.reporter, t, where, item)
		if t != "" && p.Type != "" && Arm(t) != Arm(p.Type) {
			ch.fail("types that begin with cax have Arm processors, all others x86; make a pool for each", item,
				"arm and x86 in one pool, with one image: %s and %s", p.Type, t)
		}
	}
}

// checkServerLimit counts what the network holds when every autoscaled pool is
// full.
func (ch hetznerRules) checkServerLimit() {
	servers := len(ch.surge)
	for _, n := range ch.nodes {
		if !n.Dedicated {
			servers++
		}
	}
	for _, p := range ch.Autoscaler.NodePools {
		servers += p.Max
	}
	if *ch.Network.NATGateway.Enabled {
		servers++
		if ch.Network.NATGateway.Standby.Enabled {
			servers++
		}
	}
	if limit := ch.Network.ServerLimit; limit > 0 && servers > limit {
		ch.fail("Hetzner Cloud allows 100 in a network; if it allows more in your project, set network.serverLimit", keys("nodes"),
			"%d servers, with all that the autoscaler may add; the network takes at most %d", servers, limit)
	}
}

// checkPlaces checks every location, and that there is one for everything.
func (ch hetznerRules) checkPlaces() {
	nowhere := false
	for _, p := range ch.places() {
		if ch.has(p.path...) {
			ch.checkLocation(p)
		} else if p.name == "" {
			nowhere = true
		}
	}
	region := keys("hetzner.region")
	if ch.has(region...) {
		ch.checkLocation(place{ch.Hetzner.Region, region})
	} else if nowhere {
		ch.fail("for example region: hel1; or give each pool a location", region[:1], "hetzner.region is required")
	}
}

// places lists what is somewhere, with the region filled in.
func (ch hetznerRules) places() []place {
	var all []place
	if *ch.Network.NATGateway.Enabled {
		all = append(all, place{ch.Network.NATGateway.Location, keys("network.natGateway.location")})
		if second := ch.Network.NATGateway.Standby; second.Enabled {
			all = append(all, place{second.Location, keys("network.natGateway.standby.location")})
		}
	}
	if lb := ch.Hetzner.APILoadBalancer; lb.Enabled {
		all = append(all, place{lb.Location, keys("hetzner.apiLoadBalancer.location")})
	}
	for _, p := range ch.pools {
		if p.dedicated {
			continue
		}
		if len(p.Locations) == 0 {
			all = append(all, place{p.Location, sub(p.path, "location")})
		}
		all = append(all, placesOf(p.Locations, sub(p.path, "locations"))...)
		all = append(all, placesOf(p.FallbackLocations, sub(p.path, "fallbackLocations"))...)
	}
	for i, p := range ch.Autoscaler.NodePools {
		all = append(all, place{p.Location, []string{"autoscaler", "nodepools", strconv.Itoa(i), "location"}})
	}
	for i, p := range ch.Ingress.LoadBalancerPools {
		all = append(all, place{p.Location, []string{"ingress", "loadBalancerPools", strconv.Itoa(i), "location"}})
	}
	return all
}

func placesOf(names, path []string) []place {
	var all []place
	for i, name := range names {
		all = append(all, place{name, sub(path, strconv.Itoa(i))})
	}
	return all
}

// checkReach warns of servers that reach nobody.
func (ch hetznerRules) checkReach() {
	n := ch.Network
	if n.PublicIPv4 || *n.NATGateway.Enabled {
		return
	}
	for _, r := range n.ExtraRoutes {
		if to, err := netip.ParsePrefix(r.Destination); err == nil && to.Bits() == 0 && to.Addr().Is4() {
			return
		}
	}
	ch.warn("many registries have IPv4 addresses only; enable network.natGateway, or give a route to 0.0.0.0/0", keys("network.publicIpv4"),
		"nodes have no way to the IPv4 internet")
}

// checkGateway makes sure that somebody can go through the NAT gateway where it
// is the only way to the nodes.
func (ch hetznerRules) checkGateway() {
	n := ch.Network
	if !*n.NATGateway.Enabled || len(ch.Hetzner.SSHKeys) > 0 || ch.has(keys("hetzner.sshKeys")...) {
		return
	}
	hint := "for example hetzner.sshKeys: [my-key], the name of a key in the project"
	switch {
	case !n.PublicIPv4 && !n.PublicIPv6:
		ch.fail(hint, keys("network.publicIpv4"), "nodes without public addresses are reached through the NAT gateway, and hetzner.sshKeys is empty, so no operator could use it")
	case ch.Access == "private":
		ch.fail(hint, keys("access"), "with access: private nodes are reached through the NAT gateway, and hetzner.sshKeys is empty, so no operator could use it")
	}
}

// checkStandby makes sure that there is a first gateway where there is a second, and
// warns of two that one failure may take down.
func (ch hetznerRules) checkStandby() {
	g := ch.Network.NATGateway
	switch {
	case !g.Standby.Enabled:
	case !*g.Enabled:
		ch.fail("set network.natGateway.enabled: true", keys("network.natGateway.standby.enabled"), "a second NAT gateway without a first one")
	case g.Standby.Location == g.Location && elsewhere(g.Location) != g.Location:
		ch.warn("for example "+elsewhere(g.Location), keys("network.natGateway.standby.location"),
			"both NAT gateways are in %s, where one failure may take down both", g.Location)
	}
}

// checkEndpoint warns of several control planes of which only the first is ever asked.
func (ch hetznerRules) checkEndpoint() {
	planes := 0
	for _, n := range ch.nodes {
		if n.Role == ControlPlane {
			planes++
		}
	}
	if planes > 1 && ch.Endpoint == "" && !ch.Hetzner.APILoadBalancer.Enabled && !*ch.Cluster.Nodes.ControlPlane.PrivateVIP {
		ch.warn("set nodes.controlPlane.privateVip: true, hetzner.apiLoadBalancer.enabled: true, or an endpoint", keys("nodes.controlPlane.privateVip"),
			"the endpoint is the first of %d control plane nodes: while it is down no node joins, and without KubePrism none reaches the API", planes)
	}
}

func (ch hetznerRules) checkFloatingIP() {
	cp := ch.Cluster.Nodes.ControlPlane
	if cp.FloatingIPID != 0 && !cp.FloatingIP {
		ch.fail("", keys("nodes.controlPlane.floatingIpId"), "floatingIpId without floatingIp: true")
	}
}
