package generate

import "github.com/talosgen/talosgen/schemas"

// serviceAddresses lets Services of static clusters have addresses.
func (e podNetworkGenerator) serviceAddresses(c values) {
	const at = "serviceAddresses"
	if e.Provider != schemas.Static || !e.is(at, 30) {
		return
	}
	implementations := []string{schemas.MetalLB}
	cni, _ := c["cni"].(values)
	if cni["type"] == "cilium" && cni["kubeProxyReplacement"] == nil {
		implementations = append(implementations, schemas.CiliumAddresses)
	}
	s := values{"implementation": one(e, at+".implementation", implementations...), "addresses": []string{"192.0.2.240-192.0.2.250", "198.51.100.0/28"}}
	if e.is(at+".bgp", 40) {
		s["announce"] = schemas.BGPRoutes
		s["bgp"] = values{"asn": 64512, "peers": []values{{"address": "192.0.2.1", "asn": 64513}}}
	} else {
		put(e, s, at, "interfaces", 50, func(string) []string { return []string{"eth0"} })
	}
	c[at] = s
	if s["implementation"] == schemas.MetalLB {
		e.local(c, "metallb", "metallb-system")
		e.defines("metallb", "metallb.io", [2]string{"ipaddresspools", "IPAddressPool"}, [2]string{"l2advertisements", "L2Advertisement"},
			[2]string{"bgpadvertisements", "BGPAdvertisement"}, [2]string{"bgppeers", "BGPPeer"})
	}
}
