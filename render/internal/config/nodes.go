package config

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

// maxControlPlanes is the largest number of control plane nodes.
const maxControlPlanes = 9

// nodeRules are about each node, and what two of them share.
type nodeRules struct{ *reporter }

func (ch nodeRules) check() {
	ch.checkControlPlane()
	ch.checkNodes()
}

// checkControlPlane counts the control plane nodes.
func (ch nodeRules) checkControlPlane() {
	at := []string{"nodes", "controlPlane"}
	n := 0
	for _, node := range ch.nodes {
		if node.Role == ControlPlane {
			n++
		}
	}
	none := !slices.ContainsFunc(controlPlanePools(ch.Config), func(p pool) bool { return !p.empty() })
	switch {
	case n > maxControlPlanes:
		ch.fail("every change has to reach most of them; three or five are enough", at, "%d control plane nodes; at most %d make sense", n, maxControlPlanes)
	case n == 0 && none:
		ch.fail("one node makes a cluster, three survive the loss of one", at, "a cluster needs a control plane node")
	case n > 0 && n%2 == 0:
		ch.checkEven(n, at)
	}
}

// checkEven refuses an even number of control plane nodes, unless it is meant:
// while a broken one is replaced there is nothing else to have.
func (ch nodeRules) checkEven(n int, at []string) {
	say, rest := ch.fail, "; take an odd number,\nor set nodes.controlPlane.acknowledgeEvenCount: true while one is replaced"
	if ch.Cluster.Nodes.ControlPlane.AcknowledgeEvenCount {
		say, rest = ch.warn, "; take an odd number again soon"
	}
	say(fmt.Sprintf("etcd survives the loss of %d of %d, no more than with %d", (n-1)/2, n, n-1)+rest, at, "%d control plane nodes", n)
}

// checkNodes looks at each static node, and for what two of them share.
func (ch nodeRules) checkNodes() {
	if ch.Provider != schemas.Static {
		return
	}
	u := claims{ch.reporter, map[string]string{}}
	for _, n := range ch.nodes {
		own := n.paths[0]
		ch.checkMachine(n, u)
		ch.checkNotDedicated(func(path ...string) []string { return slices.Concat(own, path) })
	}
}

// checkMachine looks at a machine that exists already.
func (ch nodeRules) checkMachine(n Node, u claims) {
	own := n.paths[0]
	at := func(path ...string) []string { return slices.Concat(own, path) }
	u.claim("name", n.Name, own, at("name"))
	u.claim("MAC address", n.Match.MAC, own, at("match", "mac"))
	u.claim("UUID", n.Match.UUID, own, at("match", "uuid"))
	u.claim("serial number", n.Match.Serial, own, at("match", "serial"))
	u.claim("fingerprint", n.Match.Fingerprint, own, at("match", "fingerprint"))
	if n.Address.IsValid() {
		u.claim("address", n.Address.Addr().String(), own, at("address"))
	}
	if n.BootAddress.IsValid() && ch.has(at("bootAddress")...) {
		u.claim("address", n.BootAddress.String(), own, at("bootAddress"))
	}
	if n.RobotServer != 0 {
		u.claim("number at Hetzner Robot", strconv.Itoa(n.RobotServer), own, at("robotServer"))
	}
	if ch.has(at("match")...) && !ch.has(at("match", "mac")...) && !ch.has(at("match", "uuid")...) && !ch.has(at("match", "serial")...) {
		ch.fail("give at least one of mac, uuid and serial", at("match"), "nothing to recognise the machine by")
	}
	ch.checkStaticAddresses(n, at)
}

// checkStaticAddresses checks how a static node is reached.
func (ch nodeRules) checkStaticAddresses(n Node, at func(...string) []string) {
	hasAddress := ch.has(at("address")...)
	if !hasAddress && !ch.has(at("bootAddress")...) {
		ch.fail("give address, or bootAddress if DHCP always gives it the same", at(), "no address to reach the node at")
	}
	if !n.Dedicated && ch.needsLink(n, hasAddress) && n.Interface == "" && !ch.has(at("interface")...) && !ch.has(at("match", "mac")...) {
		ch.fail("give interface, or match.mac", at(), "addresses and routes of the node are for a network link, and nothing says which")
	}
	for _, key := range []string{"gateway", "interface", "vlanId", "mtu"} {
		if ch.has(at(key)...) && !hasAddress && !(n.Dedicated && key != "gateway") {
			ch.fail("give address, or remove it", at(key), "%s without address", key)
		}
	}
	if !n.Gateway.IsValid() || !n.Address.IsValid() {
		return
	}
	switch {
	case n.Gateway == n.Address.Addr():
		ch.fail("", at("gateway"), "the gateway is the node itself")
	case !n.Address.IsSingleIP() && !n.Address.Contains(n.Gateway):
		ch.fail("", at("gateway"), "the gateway %s is not in the subnet %s", n.Gateway, n.Address.Masked())
	}
}

// needsLink tells whether the configuration of a static node names a link.
func (ch nodeRules) needsLink(n Node, hasAddress bool) bool {
	hasVIP := n.Role == ControlPlane && ch.Cluster.Nodes.ControlPlane.VIP != ""
	return hasAddress || hasVIP || len(n.Routes)+len(ch.Network.ExtraRoutes) > 0
}

// claims finds values that only one node may have.
type claims struct {
	*reporter
	owners map[string]string // what and value, to the path of the node
}

// claim notes that the node at the path owner has a value.
func (u claims) claim(what, value string, owner, at []string) {
	if value == "" {
		return
	}
	key := what + " " + value
	first, taken := u.owners[key]
	if taken && first != join(owner) {
		u.fail("the first one is on "+onLine(u.Config, u.pos[first]), at, "a second node with the %s %s", what, value)
		return
	}
	u.owners[key] = join(owner)
}
