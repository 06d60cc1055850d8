package catalogue

import (
	"github.com/talosgen/talosgen/schemas"
)

const (
	metalLBName      = "metallb"
	metalLBNamespace = "metallb-system"
	metalLBVersion   = "0.16.1"
	metalLBGroup     = "metallb.io"
)

// metalLB gives addresses to Services, and announces them.
func metalLB() entry {
	e := entry{
		about:     "gives Services addresses of your network, and announces them",
		defaultOn: "with serviceAddresses.implementation: metallb", options: addressesOption,
		name: metalLBName, layer: Controllers, namespace: metalLBNamespace, podSecurity: privileged, version: metalLBVersion, onlyBy: addressesOption,
		wanted: wantAddresses(schemas.MetalLB),
		machine: func(*facts) schemas.AddonNeeds {
			return schemas.AddonNeeds{PodSecurity: privileged}
		},
	}
	e.build = func(f *facts, a *Addon) {
		a.Source = &Source{Chart: &Chart{Repository: "https://metallb.github.io/metallb", Name: metalLBName, Version: f.version(e)}}
		a.Values = plain(fields{
			// Its speakers speak BGP themselves.
			"frrk8s": fields{"enabled": false},
			"speaker": fields{
				"frr": fields{"enabled": false},
				// Talos keeps control planes out of load balancers; if there are no
				// workers, nobody would answer.
				"ignoreExcludeLB": f.countRole(schemas.RoleWorker) == 0,
			},
		}).(fields)
	}
	return e
}

// metalLBObjects say which addresses there are, and how they are announced.
func (f addresses) metalLBObjects(namespace string) []object {
	s, pools := f.Cluster.ServiceAddresses, []string{addressesName}
	objects := []object{newObject(metalLBGroup+"/v1beta1", "IPAddressPool", namespace, addressesName, fields{"spec": fields{"addresses": s.Addresses}})}
	if s.Announce == schemas.L2 {
		spec := fields{"ipAddressPools": pools}
		if len(s.Interfaces) > 0 {
			spec["interfaces"] = s.Interfaces
		}
		return append(objects, newObject(metalLBGroup+"/v1beta1", "L2Advertisement", namespace, addressesName, fields{"spec": spec}))
	}
	objects = append(objects, newObject(metalLBGroup+"/v1beta1", "BGPAdvertisement", namespace, addressesName, fields{"spec": fields{"ipAddressPools": pools}}))
	for i, p := range s.BGP.Peers {
		objects = append(objects, newObject(metalLBGroup+"/v1beta2", "BGPPeer", namespace, peerName(i), fields{
			"spec": fields{"myASN": s.BGP.ASN, "peerASN": p.ASN, "peerAddress": p.Address},
		}))
	}
	return objects
}
