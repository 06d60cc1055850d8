package generate

import (
	"fmt"

	"github.com/talosgen/talosgen/schemas"
)

// networkGenerator makes ranges, and how nodes reach the world.
type networkGenerator struct{ *environment }

// network sets the ranges, and how nodes reach the world.
func (e networkGenerator) network(c values) {
	n := values{}
	if e.Provider == schemas.Hetzner {
		e.privateNetwork(n)
	} else {
		e.staticRanges(n)
	}
	put(e, n, "network", "dnsDomain", 15, func(string) string { return "k8s.example.com" })
	section(c, "network", n)
}

// staticRanges are for machines that exist already.
func (e networkGenerator) staticRanges(n values) {
	put(e, n, "network", "podCidrs", 20, func(string) []string { return []string{"10.42.0.0/16"} })
	put(e, n, "network", "serviceCidrs", 20, func(string) []string { return []string{"10.43.0.0/16"} })
	put(e, n, "network", "nodeCidrs", 20, func(string) []string { return []string{"192.168.0.0/16"} })
	put(e, n, "network", "nativeRoutingCidr", 10, func(string) string { return "10.42.0.0/16" })
	put(e, n, "network", "ipv6", 10, func(string) bool { return false })
	put(e, n, "network", "extraRoutes", 15, func(string) []values {
		return []values{{"destination": "10.20.0.0/16", "gateway": "192.168.1.1"}}
	})
}

// privateNetwork is for servers of Hetzner Cloud. The ranges are those that follow
// from the network, in the words of the file or by default.
func (e networkGenerator) privateNetwork(n values) {
	b := e.number(e.at+".network.cidr number", 0, 255)
	base := one(e, "network.cidr kind", "10.0", fmt.Sprintf("10.%d", b), fmt.Sprintf("172.%d", 16+b%16), "192.168")
	e.cidr = base + ".0.0/16"
	if base != "10.0" || e.is("network.cidr", 20) {
		n["cidr"] = e.cidr
	}
	dual := e.is("network dual", 10)
	list := func(v4, v6 string) func(string) []string {
		return func(string) []string {
			if dual {
				return []string{v4, v6}
			}
			return []string{v4}
		}
	}
	percent := map[bool]int{false: 20, true: 100}[dual]
	put(e, n, "network", "podCidrs", percent, list(base+".128.0/17", "fd00:10::/56"))
	put(e, n, "network", "serviceCidrs", percent, list(base+".96.0/19", "fd00:20::/112"))
	put(e, n, "network", "nodeCidrs", 20, func(string) []string { return []string{base + ".64.0/19"} })
	put(e, n, "network", "nodeSubnetMaskSize", 15, func(name string) int { return one(e, name+" value", 25, 26) })
	if n["nodeSubnetMaskSize"] == nil && !e.is("network.vswitch", 6) {
		put(e, n, "network", "subnets", 8, func(string) values {
			e.given = true
			return values{"controlPlane": base + ".64.0/25", "loadBalancers": base + ".64.128/25", "workers": base + ".80.0/25"}
		})
	}
	put(e, n, "network", "nativeRoutingCidr", 10, func(string) string { return e.cidr })
	if e.is("network.existing", 8) {
		if e.is("network.existing.name", 50) {
			n["existing"] = values{"name": "shared " + e.name(e.at+".network.existing.name value", 20)}
		} else {
			n["existing"] = values{"id": e.of("network.existing.id", 1000, 99999999)}
		}
	}
	e.reach(n, base)
	put(e, n, "network", "ipv6", 10, func(string) bool { return false })
	put(e, n, "network", "mtu", 10, func(name string) int { return e.of(name+" value", 1280, 1450) })
	put(e, n, "network", "serverLimit", 10, func(name string) int { return e.of(name+" value", 100, 500) })
	if e.vswitch = e.is("network.vswitch", 6); e.vswitch {
		v := values{"id": e.of("network.vswitch.id", 1000, 99999)}
		put(e, v, "network.vswitch", "vlanId", 40, func(name string) int { return e.of(name+" value", 4000, 4091) })
		e.flag(v, "network.vswitch", "exposeRoutes", 50)
		n["vswitch"] = v
	}
	put(e, n, "network", "extraRoutes", 12, func(name string) []values {
		r := values{"destination": "100.64.0.0/16"}
		put(e, r, name, "gateway", 50, func(string) string { return base + ".64.200" })
		return []values{r}
	})
}

// reach is how servers reach the world, and are reached.
func (e networkGenerator) reach(n values, base string) {
	old := e.Contract < 12
	put(e, n, "network", "publicIpv6", 12, func(string) bool { return false })
	if !old || n["publicIpv6"] == nil {
		put(e, n, "network", "publicIpv4", 12, func(string) bool { return false })
	}
	private := n["publicIpv4"] == false && n["publicIpv6"] == false
	if !private && !e.is("network.natGateway", 15) {
		return
	}
	g := values{"enabled": true}
	put(e, g, "network.natGateway", "type", 40, func(name string) string { return e.sold(one(e, name+" value", "cpx22", "cax11")) })
	put(e, g, "network.natGateway", "location", 30, func(string) string { return e.near("nbg1") })
	put(e, g, "network.natGateway", "sshSource", 40, func(string) []string { return []string{"203.0.113.0/24", "2001:db8::/32"} })
	if e.is("network.natGateway.standby", 40) {
		second := values{"enabled": true}
		put(e, second, "network.natGateway.standby", "location", 50, func(name string) string { return e.near(one(e, name+" value", "fsn1", "nbg1", "hel1")) })
		g["standby"] = second
	}
	n["natGateway"] = g
}
