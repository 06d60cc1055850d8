package infra

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Hetzner's limits, from its API description.
const (
	maxServersPerNetwork = 100
	maxGroupMembers      = 10
	maxGroups            = 50
	maxSubnets           = 50
)

// selectorLength is how much of a schematic id a label can hold, as others
// write it: labels have 63 characters at most.
const selectorLength = 32

// servers resolves every node, and collects the placement groups they need.
func (r *resolver) servers() {
	groups := map[string]bool{}
	for _, pool := range r.in.Pools {
		in := r.subnetOf(pool)
		for _, node := range pool.Nodes {
			address, err := NodeAddress(in, pool.Offset, node.Index)
			if err != nil {
				r.problems.Add(diag.New(pool.Pos, "node %s: %v", node.Name, err).
					WithHint("a subnet has room for %d nodes; give the pool a subnet of its own, or a wider pod range", 1<<(32-in.Bits())-4))
				continue
			}
			group := ""
			if pool.PlacementGroup || pool.Role == roleControlPlane {
				group = r.in.name(pool.Name, "pg", fmt.Sprint(shard(node.Index)))
				if !groups[group] {
					groups[group] = true
					r.out.PlacementGroups = append(r.out.PlacementGroups, schemas.InfraPlacementGroup{
						Name: group, Labels: r.in.labels(labelRole, pool.Role, labelPool, pool.Name),
					})
				}
			}
			r.out.Servers = append(r.out.Servers, r.server(pool, node, address, group))
		}
	}
}

const roleControlPlane = "controlplane"

// shard is the number of the placement group of a node, from 1. It follows from
// the index alone, so that no other node moves when one comes or goes.
func shard(index int) int { return (index-1)/maxGroupMembers + 1 }

func (r *resolver) server(pool Pool, node Node, address netip.Addr, group string) schemas.InfraServer {
	return schemas.InfraServer{
		Name: node.Name, Role: pool.Role, Pool: pool.Name, Index: node.Index,
		Types: pool.Types, Locations: pool.Locations, Image: r.in.image(pool.Types),
		PrivateIP: address.String(), PublicIPv4: r.in.PublicIPv4, PublicIPv6: r.in.PublicIPv6,
		PlacementGroup: group, SSHKeys: r.in.SSHKeys,
		Labels:    r.in.labels(labelRole, pool.Role, labelPool, pool.Name),
		Protected: r.in.DeleteProtection, Backups: pool.Backups, KeepDisk: pool.KeepDisk,
		UserData: r.userData, ReverseDNS: template(pool.RDNS, r.in.RDNS),
	}
}

// template prefers an object's own reverse DNS over the cluster's.
func template(own, cluster schemas.InfraReverseDNS) schemas.InfraReverseDNS {
	if own.IPv4 == "" {
		own.IPv4 = cluster.IPv4
	}
	if own.IPv6 == "" {
		own.IPv6 = cluster.IPv6
	}
	return own
}

// subnetOf returns the subnet that the nodes of a pool are in.
func (r *resolver) subnetOf(pool Pool) netip.Prefix {
	switch {
	case pool.Subnet.IsValid():
		return pool.Subnet
	case pool.Role == roleControlPlane:
		return r.subnets.ControlPlane
	default:
		return r.subnets.Workers
	}
}

// architecture of a server type: Hetzner's arm types are cax followed by a
// number.
func architecture(serverType string) string {
	if digits, ok := strings.CutPrefix(serverType, "cax"); ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
		return "arm"
	}
	return "x86"
}

// image selects the snapshot of the Talos that the cluster runs.
func (in *Input) image(types []string) schemas.InfraImage {
	labels := map[string]string{"os": "talos", "talos_schematic_id": in.Image.Schematic[:min(selectorLength, len(in.Image.Schematic))]}
	if !in.Image.AnyVersion {
		labels["talos_version"] = in.Image.TalosVersion
	}
	image := schemas.InfraImage{Selector: selector(labels), Architecture: "x86"}
	if len(types) > 0 {
		image.Architecture = architecture(types[0])
	}
	return image
}

// checkServers looks at the limits of Hetzner, and at what cannot work.
func (r *resolver) checkServers() {
	if n := len(r.out.Servers); n > maxServersPerNetwork {
		r.problems.Add(diag.On("infrastructure", "%d servers in one network; Hetzner allows %d", n, maxServersPerNetwork))
	}
	if n := len(r.out.PlacementGroups); n > maxGroups {
		r.problems.Add(diag.On("infrastructure", "%d placement groups; Hetzner allows %d in a project", n, maxGroups))
	}
	for _, pool := range r.in.Pools {
		for _, t := range pool.Types {
			if architecture(t) != architecture(pool.Types[0]) {
				r.problems.Add(diag.New(pool.Pos, "pool %s: %s and %s have different architectures, which need different images", pool.Name, pool.Types[0], t).
					WithHint("fall back to types of the same architecture"))
			}
		}
	}
	used := map[string]string{}
	for _, s := range r.out.Servers {
		if other, taken := used[s.PrivateIP]; taken {
			r.problems.Add(diag.New(r.posOf(s.Pool), "the nodes %s and %s have the same address %s", other, s.Name, s.PrivateIP).
				WithHint("the pools' offsets overlap: was one of them added on another branch?"))
		}
		used[s.PrivateIP] = s.Name
	}
}

func (r *resolver) posOf(pool string) diag.Pos {
	for _, p := range r.in.Pools {
		if p.Name == pool {
			return p.Pos
		}
	}
	return diag.Pos{}
}
