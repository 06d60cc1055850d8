package infra

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/schemas"
)

// Hetzner's limits for placement groups, from its API description.
const (
	maxGroupMembers = 10
	maxGroups       = 50
)

// serverResolver resolves servers, and the machines of a static environment.
type serverResolver struct{ *resolver }

// servers resolves every node, and collects the placement groups they need.
func (r serverResolver) servers() {
	userData := r.userData()
	groups := map[string]bool{}
	for _, n := range r.c.Resolve() {
		if n.Dedicated {
			r.out.Machines = append(r.out.Machines, machineOf(n))
			continue
		}
		s := r.server(n)
		s.UserData = userData
		r.out.Servers = append(r.out.Servers, s)
		if s.PlacementGroup != "" && !groups[s.PlacementGroup] {
			groups[s.PlacementGroup] = true
			r.out.PlacementGroups = append(r.out.PlacementGroups, schemas.InfraPlacementGroup{
				Name: s.PlacementGroup, Labels: r.labels(labelRole, r.roleLabel(n.Role), labelPool, n.Pool),
			})
		}
	}
	for _, n := range config.SurgeNodes(r.c) {
		s := r.server(n)
		s.UserData, s.Surge = userData, true
		r.out.Surge = append(r.out.Surge, s)
	}
	if n := len(r.out.PlacementGroups); n > maxGroups {
		r.fail("nodes", "give a pool placementGroup: false", "%d placement groups; Hetzner allows %d in a project", n, maxGroups)
	}
}

func (r serverResolver) server(n config.Node) schemas.InfraServer {
	public := r.c.Network
	s := schemas.InfraServer{
		Name: n.Name, Role: n.Role, Pool: n.Pool, Index: n.Index,
		Types: list(n.Type, n.FallbackTypes), Locations: list(n.Location, n.FallbackLocations), Image: imageResolver(r).image(n.Type, n.Image()),
		PrivateIP: n.PrivateIP.String(), PublicIPv4: public.PublicIPv4, PublicIPv6: public.PublicIPv6,
		SSHKeys: r.c.Hetzner.SSHKeys, Labels: r.labels(labelRole, r.roleLabel(n.Role), labelPool, n.Pool),
		Protected: r.c.DeleteProtection, Backups: n.Backups, KeepDisk: n.KeepDisk, KeepPrimaryIPs: n.KeepPrimaryIPs && (public.PublicIPv4 || public.PublicIPv6),
		ReverseDNS: r.reverseDNS(subject{n.Name, n.Pool, n.Role, n.Pos("rdns")}, public.PublicIPv4, public.PublicIPv6, n.ReverseDNS),
	}
	for _, v := range n.Volumes {
		s.Volumes = append(s.Volumes, schemas.InfraVolume{Name: n.VolumeName(v), Size: v.Size})
	}
	if n.PlacementGroup {
		s.PlacementGroup = cmp.Or(n.Group, r.name(n.Pool, "pg", strconv.Itoa(shard(n.Index))))
	}
	return s
}

// shard is the number of the placement group of a node, from 1. It follows from
// the index alone, so that no other node moves when one comes or goes.
func shard(index int) int { return (index-1)/maxGroupMembers + 1 }

// list is a first choice and what to fall back to, each once.
func list(first string, others []string) []string {
	all := []string{first}
	for _, other := range others {
		if !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	return all
}
