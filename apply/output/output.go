// Package output is what scripts ask of a cluster, as a value: addresses, ids and
// versions, from its tree and from what Hetzner has. It is pure, and holds no secrets.
package output

import (
	"cmp"
	"net/netip"
	"slices"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/schemas"
)

// Cluster is what scripts ask of a cluster: from its tree, and addresses and ids from
// Hetzner. It holds no secrets. What does not exist yet is absent.
type Cluster struct {
	Name        string `json:"cluster"`
	Environment string `json:"environment"`
	Provider    string `json:"provider"`
	// The URL of the Kubernetes API for people, and the one that nodes use.
	Endpoint         string `json:"endpoint,omitempty"`
	InternalEndpoint string `json:"internalEndpoint"`
	// The public addresses behind Endpoint, to point its name to.
	EndpointAddresses []string `json:"endpointAddresses,omitempty"`
	TalosVersion      string   `json:"talosVersion,omitempty"`
	KubernetesVersion string   `json:"kubernetesVersion,omitempty"`
	Network           *Object  `json:"network,omitempty"`
	// By their names.
	Nodes         map[string]Object `json:"node"`
	Servers       map[string]Object `json:"server,omitempty"` // that are no nodes
	LoadBalancers map[string]Object `json:"loadBalancer,omitempty"`
	FloatingIPs   map[string]Object `json:"floatingIp,omitempty"`
	Firewalls     map[string]Object `json:"firewall,omitempty"`
	Volumes       map[string]Object `json:"volume,omitempty"` // of nodes
}

// Object is an object of a cluster.
type Object struct {
	ID         int64  `json:"id,omitempty"`
	Name       string `json:"name"`
	Role       string `json:"role,omitempty"`
	Type       string `json:"type,omitempty"`
	Location   string `json:"location,omitempty"`
	IPRange    string `json:"ipRange,omitempty"`
	PrivateIP  string `json:"privateIp,omitempty"`
	PublicIPv4 string `json:"publicIpv4,omitempty"`
	PublicIPv6 string `json:"publicIpv6,omitempty"`
	// Of a volume: its size in GB, and the node that has it.
	Size int    `json:"sizeGb,omitempty"`
	Node string `json:"node,omitempty"`
}

// addresses are the public ones.
func (o Object) addresses() (list []string) {
	for _, ip := range []string{o.PublicIPv4, o.PublicIPv6} {
		if ip != "" {
			list = append(list, ip)
		}
	}
	return list
}

// Of returns what the desired and the observed infrastructure say; versions are
// encrypted in the tree, and not among it. Objects of others
// with the names of the cluster's are not the cluster's.
func Of(i *schemas.Infrastructure, o *cloudplan.Observed) *Cluster {
	out := &Cluster{
		Name: i.Cluster, Provider: i.Provider, Endpoint: i.KubernetesAPI.ExternalEndpoint, InternalEndpoint: i.KubernetesAPI.Endpoint,
		Nodes: map[string]Object{}, Servers: map[string]Object{}, LoadBalancers: map[string]Object{}, FloatingIPs: map[string]Object{}, Firewalls: map[string]Object{},
		Volumes: map[string]Object{},
	}
	for _, m := range i.Machines {
		out.Nodes[m.Name] = Object{Name: m.Name, Role: roleOf(m.Role), PrivateIP: m.Address}
	}
	out.servers(i, o)
	out.volumes(i, o)
	owns := func(m cloudplan.Meta) bool { return m.Labels[schemas.LabelCluster] == i.Cluster }
	for _, b := range o.LoadBalancers {
		if owns(b.Meta) {
			out.LoadBalancers[b.Name] = Object{ID: b.ID, Name: b.Name, Type: b.Type, Location: b.Location,
				PrivateIP: privateIP(b.PrivateNets), PublicIPv4: b.PublicIPv4.IP, PublicIPv6: b.PublicIPv6.IP}
		}
	}
	for _, f := range o.FloatingIPs {
		if owns(f.Meta) {
			out.FloatingIPs[f.Name] = floating(f)
		}
	}
	for _, f := range o.Firewalls {
		if owns(f.Meta) && !slices.Contains([]string{schemas.ComponentLock, schemas.ComponentSession}, f.Labels[schemas.LabelComponent]) {
			out.Firewalls[f.Name] = Object{ID: f.ID, Name: f.Name}
		}
	}
	for _, n := range o.Networks {
		if i.Network != nil && n.Name == i.Network.Name && (owns(n.Meta) || i.Network.Existing) {
			out.Network = &Object{ID: n.ID, Name: n.Name, IPRange: n.IPRange}
		}
	}
	out.endpoint(i)
	return out
}

// roles are those of nodes, in the words of plans.
var roles = map[string]string{schemas.RoleControlPlane: nodeplan.ControlPlane, schemas.RoleWorker: nodeplan.Worker}

func roleOf(role string) string { return cmp.Or(roles[role], role) }

// servers are those of the tree, with what Hetzner says of those that exist.
func (out *Cluster) servers(i *schemas.Infrastructure, o *cloudplan.Observed) {
	for _, want := range i.Servers {
		s := Object{Name: want.Name, Role: roleOf(want.Role), PrivateIP: want.PrivateIP}
		for _, have := range o.Servers {
			if have.Name == want.Name && have.Labels[schemas.LabelCluster] == i.Cluster {
				s.ID, s.Type, s.Location = have.ID, have.Type, have.Location
				s.PublicIPv4, s.PublicIPv6 = have.PublicIPv4.IP, host(have.PublicIPv6.IP)
			}
		}
		if want.Role == schemas.RoleNATGateway {
			out.Servers[want.Name] = s
		} else {
			out.Nodes[want.Name] = s
		}
	}
}

// volumes are those that the tree gives to nodes and that exist.
func (out *Cluster) volumes(i *schemas.Infrastructure, o *cloudplan.Observed) {
	for _, server := range i.Servers {
		for _, want := range server.Volumes {
			have := slices.IndexFunc(o.Volumes, func(v cloudplan.Volume) bool {
				return v.Name == want.Name && v.Labels[schemas.LabelCluster] == i.Cluster
			})
			if have < 0 {
				continue
			}
			v := o.Volumes[have]
			out.Volumes[v.Name] = Object{ID: v.ID, Name: v.Name, Location: v.Location, Size: v.Size, Node: server.Name}
		}
	}
}

// endpoint finds the public addresses by which people reach the Kubernetes API.
func (out *Cluster) endpoint(i *schemas.Infrastructure) {
	targets := i.KubernetesAPI.External
	if len(targets) == 0 && i.Access.Mode == "public" {
		for _, s := range i.Servers {
			if s.Role == schemas.RoleControlPlane {
				targets = append(targets, schemas.InfraTarget{Kind: schemas.TargetServer, Name: s.Name})
			}
		}
	}
	for _, t := range targets {
		of := map[string]map[string]Object{schemas.TargetLoadBalancer: out.LoadBalancers, schemas.TargetFloatingIP: out.FloatingIPs, schemas.TargetServer: out.Nodes}[t.Kind]
		out.EndpointAddresses = append(out.EndpointAddresses, of[t.Name].addresses()...)
	}
}

func floating(f cloudplan.FloatingIP) Object {
	o := Object{ID: f.ID, Name: f.Name, Location: f.Location, PublicIPv4: f.IP}
	if f.Type == "ipv6" {
		o.PublicIPv4, o.PublicIPv6 = "", host(f.IP)
	}
	return o
}

func privateIP(nets []cloudplan.PrivateNet) string {
	if len(nets) == 0 {
		return ""
	}
	return nets[0].IP
}

// host is the first address of a network of IPv6, which servers have; an address
// remains as it is.
func host(ip string) string {
	prefix, err := netip.ParsePrefix(ip)
	if err != nil {
		return ip
	}
	return prefix.Addr().Next().String()
}
