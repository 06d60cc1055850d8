package preflight

import (
	"net/netip"
	"slices"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// Standing reports whether the firewalls at Hetzner let an address in to the APIs
// of all nodes of a cluster, those of sessions left out: these go when their run
// ends. A server without a firewall is open.
func Standing(o *cloudplan.Observed, cluster string, own netip.Addr) bool {
	nodes := 0
	for _, s := range o.Servers {
		role := schemas.RoleOf(s.Labels)
		if s.Labels[schemas.LabelCluster] != cluster || role != schemas.RoleControlPlane && role != schemas.RoleWorker {
			continue
		}
		nodes++
		for _, api := range apis {
			if role == schemas.RoleWorker && api.port == kubernetesPort {
				continue // only control planes have it
			}
			if !reachable(o, s, api.port, own) {
				return false
			}
		}
	}
	return nodes > 0
}

// reachable reports whether an address gets through to a TCP port of a server.
func reachable(o *cloudplan.Observed, s cloudplan.Server, port string, own netip.Addr) bool {
	filtered := false
	for _, applied := range s.Firewalls {
		i := slices.IndexFunc(o.Firewalls, func(f cloudplan.Firewall) bool { return f.ID == applied.ID })
		if i >= 0 && o.Firewalls[i].Labels[schemas.LabelComponent] == schemas.ComponentSession {
			continue
		}
		filtered = true
		if i >= 0 && slices.ContainsFunc(o.Firewalls[i].Rules, func(r schemas.InfraRule) bool { return admits(r, port) && contains(r.SourceIPs, own) }) {
			return true
		}
	}
	return !filtered
}
