package cloud

import (
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// Facts are the public addresses that stay as long as their objects do, and that
// certificates and nodes have to know: of the load balancer that people reach
// the Kubernetes API by if no name leads to it, and of floating IPs. Objects that are not there, or have
// no public address, are left out, and so are servers, whose addresses go with
// them.
func Facts(desired schemas.Infrastructure, observed Observed) (facts []schemas.FactAddress) {
	targets := slices.DeleteFunc(slices.Clone(desired.KubernetesAPI.External), func(t schemas.InfraTarget) bool {
		return t.Kind != schemas.TargetLoadBalancer || t.MadeByCluster
	})
	for _, f := range desired.FloatingIPs {
		targets = append(targets, schemas.InfraTarget{Kind: schemas.TargetFloatingIP, Name: f.Name, ID: f.ExistingID})
	}
	for _, t := range targets {
		v4, v6 := publicAddresses(t, &observed)
		if v4 == "" && v6 == "" {
			continue
		}
		facts = append(facts, schemas.FactAddress{
			Kind: t.Kind, Name: nameOf(Meta{ID: t.ID, Name: t.Name}), IPv4: single(v4), IPv6: single(v6),
		})
	}
	return facts
}

// single is an address; of a network the first one in it.
func single(ip string) string {
	if ip == "" {
		return ""
	}
	return ReverseAddress(ip)
}
