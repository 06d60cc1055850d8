package catalogue

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

const (
	addressesName   = "service-addresses"
	addressesOption = "serviceAddresses.implementation"
	ciliumGroup     = "cilium.io"
	// Services that have it set to off are not announced by Cilium.
	announceLabel = "talosgen.dev/announce"
)

// addresses are the facts of what addresses Services get.
type addresses struct{ *facts }

// serviceAddresses are the addresses of Services, and how they are announced.
func serviceAddresses() entry {
	e := entry{
		about:   "the addresses that Services get, and how nodes announce them",
		builtIn: true, defaultOn: "with serviceAddresses.implementation", options: "serviceAddresses",
		name: addressesName, layer: Configs, onlyBy: addressesOption,
		wanted: func(f *facts) (bool, string) {
			return f.Cluster.ServiceAddresses.Implementation != schemas.None, addressesOption
		},
		machine: func(f *facts) schemas.AddonNeeds {
			if f.Cluster.ServiceAddresses.Implementation == schemas.MetalLB {
				return schemas.AddonNeeds{Definitions: []string{"ipaddresspools." + metalLBGroup}}
			}
			return schemas.AddonNeeds{} // Cilium's operator defines its kinds when it runs
		},
	}
	e.build = func(f *facts, a *Addon) {
		if f.Cluster.ServiceAddresses.Implementation == schemas.MetalLB {
			a.DependsOn = append(a.DependsOn, metalLBName)
			a.Objects = addresses{f}.metalLBObjects(f.addon(metalLB(), "").Namespace)
			return
		}
		a.DependsOn = append(a.DependsOn, ciliumName)
		a.Objects = addresses{f}.ciliumAddresses()
	}
	return e
}

func wantAddresses(implementation string) func(f *facts) (bool, string) {
	return func(f *facts) (bool, string) {
		return f.Cluster.ServiceAddresses.Implementation == implementation, addressesOption
	}
}

// peerName is the name of a router.
func peerName(i int) string { return "peer-" + strconv.Itoa(i+1) }

// announced selects the Services that are announced: all that do not say otherwise.
func announced() fields {
	return fields{"matchExpressions": items{fields{"key": announceLabel, "operator": "NotIn", "values": []string{"off"}}}}
}

// ciliumAddresses are the addresses that Cilium gives out, and how it announces them.
func (f addresses) ciliumAddresses() []object {
	s := f.Cluster.ServiceAddresses
	var blocks items
	for _, text := range s.Addresses {
		if first, last, isRange := strings.Cut(text, "-"); isRange {
			blocks = append(blocks, fields{"start": first, "stop": last})
		} else {
			blocks = append(blocks, fields{"cidr": text})
		}
	}
	pool := newObject(ciliumGroup+"/v2", "CiliumLoadBalancerIPPool", "", addressesName, fields{"spec": fields{"blocks": blocks}})
	if s.Announce == schemas.BGPRoutes {
		return append([]object{pool}, f.ciliumBGP()...)
	}
	spec := fields{"loadBalancerIPs": true, "serviceSelector": announced()}
	if len(s.Interfaces) > 0 {
		var patterns []string
		for _, name := range s.Interfaces {
			patterns = append(patterns, "^"+strings.ReplaceAll(name, ".", `\.`)+"$")
		}
		spec["interfaces"] = patterns
	}
	return []object{pool, newObject(ciliumGroup+"/v2alpha1", "CiliumL2AnnouncementPolicy", "", addressesName, fields{"spec": spec})}
}

// ciliumBGP tells routers of the addresses.
func (f addresses) ciliumBGP() []object {
	s, advertised := f.Cluster.ServiceAddresses.BGP, map[string]string{"talosgen.dev/advertises": addressesName}
	var peers items
	for i, p := range s.Peers {
		peers = append(peers, fields{"name": peerName(i), "peerAddress": p.Address, "peerASN": p.ASN, "peerConfigRef": fields{"name": addressesName}})
	}
	var families items
	for _, family := range f.addressFamilies() {
		families = append(families, fields{"afi": family, "safi": "unicast", "advertisements": fields{"matchLabels": advertised}})
	}
	return []object{
		newObject(ciliumGroup+"/v2", "CiliumBGPClusterConfig", "", addressesName, fields{
			"spec": fields{"bgpInstances": items{fields{"name": addressesName, "localASN": s.ASN, "peers": peers}}},
		}),
		newObject(ciliumGroup+"/v2", "CiliumBGPPeerConfig", "", addressesName, fields{"spec": fields{"families": families}}),
		labelled(newObject(ciliumGroup+"/v2", "CiliumBGPAdvertisement", "", addressesName, fields{"spec": fields{"advertisements": items{fields{
			"advertisementType": "Service", "service": fields{"addresses": []string{"LoadBalancerIP"}}, "selector": announced(),
		}}}}), advertised),
	}
}

// addressFamilies are those of the addresses of Services.
func (f addresses) addressFamilies() (families []string) {
	has := map[string]bool{}
	for _, text := range f.Cluster.ServiceAddresses.Addresses {
		if first, _, err := addressRange(text); err == nil {
			has[map[bool]string{true: "ipv4", false: "ipv6"}[first.Is4()]] = true
		}
	}
	for _, family := range []string{"ipv4", "ipv6"} {
		if has[family] {
			families = append(families, family)
		}
	}
	return families
}

// addressRange are the first and the last address of a range; of a subnet, the first
// twice.
func addressRange(text string) (first, last netip.Addr, err error) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return prefix.Addr(), prefix.Addr(), nil
	}
	from, to, _ := strings.Cut(text, "-")
	if first, err = netip.ParseAddr(from); err == nil {
		last, err = netip.ParseAddr(to)
	}
	return first, last, err
}

// ciliumAnnouncements are the values by which Cilium announces addresses.
func (f addresses) ciliumAnnouncements(values fields) {
	s := f.Cluster.ServiceAddresses
	switch {
	case s.Implementation != schemas.CiliumAddresses:
	case s.Announce == schemas.BGPRoutes:
		values["bgpControlPlane"] = fields{"enabled": true}
	default:
		values["l2announcements"] = fields{"enabled": true}
		// Each Service has a Lease that is renewed all the time.
		values["k8sClientRateLimit"] = fields{"qps": 50, "burst": 100}
	}
}

// checkAddresses makes sure that addresses can be announced.
func (f webRules) checkAddresses() {
	s, at := f.Cluster.ServiceAddresses, "serviceAddresses"
	if s.Implementation == schemas.None {
		return
	}
	if f.Cluster.Provider == schemas.Hetzner {
		f.fail(addressesOption, "remove it; see hetzner.loadBalancers and ingress.loadBalancerPools", "networks of Hetzner Cloud route no addresses that nodes announce: there the cloud controller makes load balancers")
	}
	if len(s.Addresses) == 0 {
		f.fail(addressesOption, "for example serviceAddresses.addresses: [192.168.1.240-192.168.1.250]", "there are no addresses that Services could get")
	}
	for i, text := range s.Addresses {
		first, last, err := addressRange(text)
		if err != nil || first.Is4() != last.Is4() || last.Less(first) {
			f.fail(at+".addresses."+strconv.Itoa(i), "for example 192.168.1.240-192.168.1.250, or 192.168.2.0/28", "%s is no range of addresses", text)
		}
	}
	if s.Implementation == schemas.CiliumAddresses && (f.Cluster.CNI.Type != ciliumName || !f.Cluster.CNI.KubeProxyReplacement) {
		f.fail(addressesOption, "set cni.type: cilium, with cni.kubeProxyReplacement; or take metallb", "Cilium does not serve the Services of this cluster")
	}
	if s.Announce == schemas.BGPRoutes && len(s.Interfaces) > 0 {
		f.fail(at+".interfaces", "remove it", "links answer for addresses with announce: l2 only")
	}
	switch bgp := s.Announce == schemas.BGPRoutes; {
	case bgp && (s.BGP.ASN == 0 || len(s.BGP.Peers) == 0):
		f.fail(at+".announce", "for example serviceAddresses.bgp: {asn: 64512, peers: [{address: 192.168.1.1, asn: 64513}]}", "bgp needs the number of the nodes' autonomous system, and routers")
	case !bgp && (s.BGP.ASN != 0 || len(s.BGP.Peers) > 0):
		f.fail(at+".bgp", "remove it, or set serviceAddresses.announce: bgp", "routers are told of addresses with announce: bgp only")
	}
}
