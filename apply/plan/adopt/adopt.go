// Package adopt says how a cluster that runs in Hetzner Cloud, and was made there without
// talosgen, is described in cluster.yaml so that apply changes nothing about it but its
// labels. It is pure.
package adopt

import (
	"net/netip"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// Input is a cluster as it was found.
type Input struct {
	Cluster string // its name, as its nodes have it
	Nodes   []Node
	Project cloud.Observed // everything in the project, whoever it belongs to
	Names   Names          // what people say of servers
	// The ranges that the kubelets take their addresses from.
	NodeCIDRs []string
}

// Node is a node that runs.
type Node struct {
	Name, Address string
	ControlPlane  bool
}

// Mapping is the description.
type Mapping struct {
	Options []Option // of cluster.yaml, pools apart
	Pools   []Pool
	Notes   []string // what is left as it is, and why
	Module  Module   // of Terraform, that made it
}

// Option is an option of cluster.yaml: its path, or its key in a pool.
type Option struct {
	Path  string
	Value any
}

// Pool is a pool with its options, but for its name.
type Pool struct {
	Name         string
	ControlPlane bool
	Nodes        []string
	Options      []Option
}

// Map describes a cluster. What cannot be described without a change of it is a problem.
func Map(in Input) (*Mapping, error) {
	m := &mapper{Input: in, out: &Mapping{}}
	for _, step := range []func(){
		m.match,
		func() { strangers{m}.check() },
		func() { networks{m}.describe() },
		func() { pools{m}.describe() },
		func() { servers{m}.describe() },
		func() { labels{m}.check() },
	} {
		step()
		if err := m.problems.Err(); err != nil {
			return nil, err
		}
	}
	return m.out, nil
}

// mapper describes a cluster, part by part.
type mapper struct {
	Input
	members  []*member
	net      *cloud.Network
	balancer *cloud.LoadBalancer // of the Kubernetes API, if it is taken over
	out      *Mapping
	problems diag.List
}

// member is a node with its server, and its place in a pool.
type member struct {
	Node
	server *cloud.Server
	ip     netip.Addr // in the network of the cluster
	subnet string     // of that network
	group  string     // the placement group; empty if it is in none
	pool   string
	index  int
}

// option sets an option.
func (m *mapper) option(path string, value any) {
	m.out.Options = append(m.out.Options, Option{path, value})
}

func (m *mapper) note(text string) { m.out.Notes = append(m.out.Notes, text) }

// refuse adds a reason why the cluster cannot be described.
func (m *mapper) refuse(object, hint, text string, args ...any) {
	m.problems.Add(diag.On(object, text, args...).WithHint("%s", hint).WithCode(diag.Conflict))
}

// roleLabel is how the labels of control planes write their role.
func (m *mapper) roleLabel() string {
	for _, n := range m.members {
		if n.ControlPlane && n.server.Labels[schemas.LabelRole] == schemas.OtherControlPlane {
			return schemas.OtherControlPlane
		}
	}
	return schemas.RoleControlPlane
}

// matched is the member whose server has an id; nil if there is none.
func (m *mapper) matched(id int64) *member {
	for _, n := range m.members {
		if n.server.ID == id {
			return n
		}
	}
	return nil
}
