package apply

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/schemas"
)

// inventory knows which machines a cluster has, and where they are.
type inventory struct {
	infra        *schemas.Infrastructure
	endpoints    map[string]string // where nodes are instead, by name
	fingerprints map[string]string // of machines that are taken for new ones
	calls        *atomic.Int64     // counts those to nodes
	labels       *serverRecords    // learns those of servers; nil without a project
	readOnly     bool              // nodes are only read
}

// rolesOfNodes are the roles of servers and machines, in the words of plans.
var rolesOfNodes = map[string]string{schemas.RoleControlPlane: nodeplan.ControlPlane, schemas.RoleWorker: nodeplan.Worker}

// machines are the nodes of the tree, and others that have the labels of the
// cluster. making are the servers that this run is going to make.
func (inv *inventory) machines(o cloudplan.Observed, making []string) []nodes.Machine {
	found := append(inv.static(o), inv.servers(o, making)...)
	for _, have := range o.Servers {
		role := rolesOfNodes[schemas.RoleOf(have.Labels)]
		known := slices.ContainsFunc(found, func(m nodes.Machine) bool { return m.Name == have.Name })
		if role == "" || known || !inv.owns(have) {
			continue
		}
		m := nodes.Machine{Name: have.Name, Role: role}
		inv.place(&m, have)
		found = append(found, m)
	}
	for i := range found {
		found[i].Calls, found[i].ReadOnly = inv.calls, inv.readOnly
		found[i].Consent.Fingerprint = inv.fingerprints[found[i].Name]
		if address := inv.endpoints[found[i].Name]; address != "" {
			found[i].Address, found[i].BootAddress = address, ""
		}
	}
	return found
}

// servers are the nodes that the tree has at Hetzner Cloud.
func (inv *inventory) servers(o cloudplan.Observed, making []string) (found []nodes.Machine) {
	for _, want := range inv.infra.Servers {
		role := rolesOfNodes[want.Role]
		if role == "" {
			continue
		}
		m := nodes.Machine{Name: want.Name, Role: role, InTree: true, New: slices.Contains(making, want.Name)}
		if have := inv.server(o, want.Name); have != nil {
			inv.place(&m, *have)
		} else {
			m.Unknown = noServer(o, want.Name)
		}
		found = append(found, m)
	}
	return found
}

// noServer says why a node has no server.
func noServer(o cloudplan.Observed, name string) string {
	if slices.ContainsFunc(o.Servers, func(have cloudplan.Server) bool { return have.Name == name }) {
		return "its server is not the cluster's yet: it was not made by talosgen"
	}
	return "there is no server"
}

// server is the cluster's server of a name; nil if there is none.
func (inv *inventory) server(o cloudplan.Observed, name string) *cloudplan.Server {
	i := slices.IndexFunc(o.Servers, func(have cloudplan.Server) bool { return have.Name == name && inv.owns(have) })
	if i < 0 {
		return nil
	}
	return &o.Servers[i]
}

// autoscaled are the nodes that the autoscaler made. A server that does not run yet has
// the newest configuration anyway.
func (inv *inventory) autoscaled(o cloudplan.Observed) (found []nodes.Machine) {
	for _, have := range o.Servers {
		group := have.Labels[schemas.LabelNodeGroup]
		own := have.Labels[schemas.LabelCluster] == inv.infra.Cluster
		if group == "" || !own && inv.scaled(group) == nil || have.Status != statusRunning {
			continue
		}
		m := nodes.Machine{Name: have.Name, Role: nodeplan.Worker, Group: group, Calls: inv.calls, ReadOnly: inv.readOnly}
		inv.place(&m, have)
		if inv.direct() && !own {
			m.Address, m.Unknown = "", "its server has no label cluster, so session access does not lead to it: cluster-autoscaler 1.36 sets it"
		}
		if address := inv.endpoints[m.Name]; address != "" {
			m.Address = address
		}
		found = append(found, m)
	}
	return found
}

// followed are those of them that take what changes in Git: of the pools with discovery.
func (inv *inventory) followed(o cloudplan.Observed) []nodes.Machine {
	return slices.DeleteFunc(inv.autoscaled(o), func(m nodes.Machine) bool {
		pool := inv.scaled(m.Group)
		return pool == nil || !pool.Discovery
	})
}

// scaled is the pool that the autoscaler makes nodes of a group for; nil if the tree has
// none.
func (inv *inventory) scaled(group string) *schemas.InfraAutoscalerPool {
	for i := range inv.infra.AutoscalerPools {
		if p := &inv.infra.AutoscalerPools[i]; p.Group == group {
			return p
		}
	}
	return nil
}

// names are those of all nodes, wanted or there.
func (inv *inventory) names(o cloudplan.Observed) (names []string) {
	for _, m := range append(inv.machines(o, nil), inv.followed(o)...) {
		names = append(names, m.Name)
	}
	return names
}

// controlPlanes are the control planes that are there.
func (inv *inventory) controlPlanes(o cloudplan.Observed, making []string) (found []nodes.Machine) {
	for _, m := range inv.machines(o, making) {
		if m.Role == nodeplan.ControlPlane && !m.New && m.Address != "" {
			found = append(found, m)
		}
	}
	return found
}

// owns reports whether a server is one that apply made for the cluster. Those of
// its autoscaler come and go by themselves.
func (inv *inventory) owns(server cloudplan.Server) bool {
	return schemas.OwnedBy(inv.infra.Cluster, server.Labels) && server.Labels[schemas.LabelNodeGroup] == ""
}

// statusRunning is Hetzner's status of a server that runs.
const statusRunning = "running"

// place says where a server is, by the way that leads there.
func (inv *inventory) place(m *nodes.Machine, have cloudplan.Server) {
	m.ID = fmt.Sprint(have.ID)
	if have.Status != statusRunning {
		m.Server = have.Status
	}
	if inv.labels != nil {
		inv.labels.add(have)
	}
	// Whoever comes through the gateway is in the private network; nodes may have no
	// other address then, be the APIs public or not.
	if inv.direct() {
		m.Address = publicAddress(have)
		m.Unknown = "it has no public address"
		return
	}
	for _, n := range have.PrivateNets {
		m.Address = cmp.Or(m.Address, n.IP)
	}
	m.Unknown = "it has no private address"
}

// direct reports whether nodes are reached by their public addresses.
func (inv *inventory) direct() bool {
	return inv.infra.Access.Mode == accessPublic && inv.infra.Access.Jump == ""
}

// publicAddress is the public address of a server, of IPv6 the first in its
// network; empty if it has none.
func publicAddress(s cloudplan.Server) string {
	if s.PublicIPv4.IP != "" {
		return s.PublicIPv4.IP
	}
	if network, err := netip.ParsePrefix(s.PublicIPv6.IP); err == nil {
		return network.Masked().Addr().Next().String()
	}
	return ""
}

// static are the machines that exist already. A dedicated server is reached as the servers
// beside it are, once it is configured. While there is no server that leads to the nodes, a
// plan takes it for one without a configuration: it is looked at before anything is sent.
func (inv *inventory) static(o cloudplan.Observed) (found []nodes.Machine) {
	for _, m := range inv.infra.Machines {
		address, _, _ := strings.Cut(m.Address, "/")
		if m.PrivateIP != "" && !inv.direct() {
			address = m.PrivateIP
		}
		found = append(found, nodes.Machine{
			Name: m.Name, Role: rolesOfNodes[m.Role], InTree: true, Address: cmp.Or(address, m.BootAddress), BootAddress: m.BootAddress,
			Match: m.Match, Exists: true, New: m.PrivateIP != "" && inv.wayless(o),
			ID: cmp.Or(m.Match.UUID, m.Match.Serial, m.Match.MAC), Unknown: "the tree names no address",
		})
	}
	return found
}

// wayless reports whether nodes are reached through a server, and there is none yet.
func (inv *inventory) wayless(o cloudplan.Observed) bool {
	a := inv.infra.Access
	return a.Jump != "" && inv.server(o, a.Jump) == nil && (a.JumpStandby == "" || inv.server(o, a.JumpStandby) == nil)
}

// exists reports whether a node is a machine that exists already: no run makes it, or
// another in its place.
func (inv *inventory) exists(name string) bool {
	return slices.ContainsFunc(inv.infra.Machines, func(m schemas.InfraMachine) bool { return m.Name == name })
}

const (
	// accessPublic is the mode of access by public addresses.
	accessPublic = "public"
	// sshPort is where the servers that lead to nodes serve SSH.
	sshPort = "22"
)
