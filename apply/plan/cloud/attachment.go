package cloud

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// attachment is the network of a cluster, and who is in it where.
type attachment struct {
	want *schemas.InfraNetwork // nil: the cluster has none
	net  *Network              // nil: it is not there yet
}

// findAttachment finds the cluster's network: its own by labels, or one that it
// may adopt; another by what identifies it.
func findAttachment(want *schemas.InfraNetwork, list []Network, o owner, adopt []string) attachment {
	if want == nil {
		return attachment{}
	}
	i := slices.IndexFunc(list, func(n Network) bool {
		switch {
		case want.ExistingID != 0:
			return n.ID == want.ExistingID
		case want.Existing:
			return n.Name == want.Name
		default:
			return n.Name == want.Name && (o.owns(n.Labels) || plan.Named(adopt, KeyOf(KindNetwork, n.Name), n.Name))
		}
	})
	if i < 0 {
		return attachment{want: want}
	}
	return attachment{want: want, net: &list[i]}
}

// foreign reports whether the network exists already and is not the cluster's.
func (a attachment) foreign() bool {
	return a.want != nil && (a.want.Existing || a.want.ExistingID != 0)
}

// networkKey is the key of the cluster's network.
func (a attachment) networkKey() plan.Key {
	if a.want == nil {
		return ""
	}
	return KeyOf(KindNetwork, networkName(a.want))
}

func networkName(n *schemas.InfraNetwork) string {
	if n.Name == "" {
		return idText(n.ExistingID)
	}
	return n.Name
}

// subnetFor is the key of the desired subnet that holds an address.
func (a attachment) subnetFor(address string) plan.Key {
	if a.want == nil {
		return ""
	}
	for _, s := range a.want.Subnets {
		if inRange(s.IPRange, address) {
			return KeyOf(KindSubnet, s.IPRange)
		}
	}
	return ""
}

// subnet finds a subnet of the network by its range.
func (a attachment) subnet(ipRange string) *Subnet {
	if a.net == nil {
		return nil
	}
	i := slices.IndexFunc(a.net.Subnets, func(s Subnet) bool { return samePrefix(s.IPRange, ipRange) })
	if i < 0 {
		return nil
	}
	return &a.net.Subnets[i]
}

// route finds a route of the network by its destination.
func (a attachment) route(destination string) *schemas.InfraRoute {
	if a.net == nil {
		return nil
	}
	i := slices.IndexFunc(a.net.Routes, func(r schemas.InfraRoute) bool { return samePrefix(r.Destination, destination) })
	if i < 0 {
		return nil
	}
	return &a.net.Routes[i]
}

// hasAddress reports whether a server has an address in the network.
func (a attachment) hasAddress(s Server, address string) bool {
	return a.net != nil && slices.ContainsFunc(s.PrivateNets, func(n PrivateNet) bool {
		return n.Network == a.net.ID && n.IP == address
	})
}

// balancerAddress is the address of a load balancer in the cluster's network.
func (a attachment) balancerAddress(b *LoadBalancer) string {
	for _, n := range b.PrivateNets {
		if a.net != nil && n.Network == a.net.ID {
			return n.IP
		}
	}
	return ""
}
