// Package recreate says which nodes of a cluster are made anew, because Git has for
// them what no living node can become: in which order, what forces it, how each leaves,
// which volumes it takes along, and what consent that takes. It is pure.
package recreate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Node is a node that only a new machine can be as Git says.
type Node struct {
	Name string `json:"node"`
	Role string `json:"role"`
	Pool string `json:"pool,omitempty"`
	// What forces it: location fsn1 -> nbg1.
	Reasons []string `json:"reasons"`
	// The volumes that go with it, or stay behind.
	Volumes []Volume `json:"volumes,omitempty"`
	// The keys of consent that are missing; none: it is made anew.
	Missing []plan.Key `json:"missing,omitempty"`
	// The steps by which it leaves the cluster, before its machine is made anew.
	Steps []nodeplan.Step `json:"steps,omitempty"`

	// Its location, if it moves to another one; and whether its server, not its
	// configuration alone, forces it.
	location string
	server   bool
	leaves   *nodeplan.Plan
}

// Allowed reports whether somebody agreed to all that it takes.
func (n Node) Allowed() bool { return len(n.Missing) == 0 }

// Server reports whether its server forces it, and not its configuration alone.
func (n Node) Server() bool { return n.server }

// Leaves is the plan by which it leaves the cluster.
func (n Node) Leaves() *nodeplan.Plan { return n.leaves }

// Plan is which nodes are made anew, one after the other: control planes first.
type Plan struct {
	Nodes []Node `json:"nodes"`
	// The nodes that pools have beside their own meanwhile: they are made first, and leave
	// when all is done.
	Surge []string `json:"surge,omitempty"`
	// Why some of them must not be.
	Refusals []plan.Note `json:"refusals,omitempty"`
	// What is not known.
	Warnings []plan.Note `json:"warnings,omitempty"`
}

// Find are the nodes that have to be made anew: because of their servers, as the plan of
// the infrastructure says, or because of their configurations. pools are those of the
// nodes by their names.
func Find(servers []cloudplan.Recreation, configurations []nodeplan.Recreation, pools map[string]string) *Plan {
	p := &Plan{}
	for _, r := range servers {
		role := nodeplan.Worker
		if r.ControlPlane() {
			role = nodeplan.ControlPlane
		}
		if len(r.Fields) > 0 {
			n := Node{Name: r.Node, Role: role, Pool: r.Pool, Reasons: r.Reasons(), location: r.Location, server: true}
			for _, name := range r.Volumes {
				n.Volumes = append(n.Volumes, Volume{Name: name, Location: r.Location})
			}
			p.Nodes = append(p.Nodes, n)
		}
	}
	for _, r := range configurations {
		i := slices.IndexFunc(p.Nodes, func(n Node) bool { return n.Name == r.Node })
		if i < 0 {
			i = len(p.Nodes)
			p.Nodes = append(p.Nodes, Node{Name: r.Node, Role: r.Role, Pool: pools[r.Node]})
		}
		p.Nodes[i].Role = r.Role
		p.Nodes[i].Reasons = append(p.Nodes[i].Reasons, r.Reasons()...)
	}
	sorting.By(p.Nodes, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), natural.Compare(a.Name, b.Name)) // control planes first
	})
	return p
}

// Agree sets which consent is missing.
func (p *Plan) Agree(c plan.Consent) {
	for i := range p.Nodes {
		n := &p.Nodes[i]
		n.Missing = nil
		if !c.Recreates(n.Name, n.Pool) {
			n.Missing = append(n.Missing, plan.Key(plan.RecreateKey+n.Name))
		}
		if len(n.Volumes) > 0 && !c.LosesVolumes(n.Name, n.Pool) {
			n.Missing = append(n.Missing, plan.Key(plan.VolumesKey+n.Name))
		}
	}
}

// Due are the nodes that are made anew.
func (p *Plan) Due() (nodes []Node) {
	if p == nil {
		return nil
	}
	for _, n := range p.Nodes {
		if n.Allowed() {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// Without is the plan without nodes that were made anew; nil for nil.
func (p *Plan) Without(done []string) *Plan {
	if p == nil {
		return nil
	}
	left := *p
	left.Nodes = slices.DeleteFunc(slices.Clone(p.Nodes), func(n Node) bool { return slices.Contains(done, n.Name) })
	return &left
}

// DueNames are their names.
func (p *Plan) DueNames() (names []string) {
	for _, n := range p.Due() {
		names = append(names, n.Name)
	}
	return names
}

// Rebuild are those of them whose servers alone would not force it.
func (p *Plan) Rebuild() (names []string) {
	for _, n := range p.Due() {
		if !n.server {
			names = append(names, n.Name)
		}
	}
	return names
}

// Keep are the nodes that somebody agreed to make anew, but not to lose the volumes of.
func (p *Plan) Keep() (names []string) {
	for _, n := range p.Nodes {
		if len(n.Missing) == 1 && strings.HasPrefix(string(n.Missing[0]), plan.VolumesKey) {
			names = append(names, n.Name)
		}
	}
	return names
}

// Leave sets how nodes leave: how says it of each that is made anew.
func (p *Plan) Leave(how func(name string) (*nodeplan.Plan, error)) error {
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if !n.Allowed() {
			continue
		}
		leaves, err := how(n.Name)
		if err != nil {
			return err
		}
		n.leaves, n.Steps = leaves, leaves.Steps
		p.Refusals = append(p.Refusals, leaves.Refusals...)
	}
	return nil
}

// Waiting are the nodes that are not made anew, because consent is missing: what forces
// it, what is lost, and how consent is given. They keep nothing else back.
func (p *Plan) Waiting() (notes []plan.Note) {
	if p == nil {
		return nil
	}
	for _, n := range p.Nodes {
		if n.Allowed() {
			continue
		}
		texts := slices.Clone(n.Reasons)
		for _, v := range n.Volumes {
			texts = append(texts, v.String())
		}
		var ways []string
		for _, kind := range []string{plan.RecreateKey, plan.VolumesKey} {
			if slices.ContainsFunc(n.Missing, func(k plan.Key) bool { return strings.HasPrefix(string(k), kind) }) {
				ways = append(ways, "--allow "+kind+cmp.Or(n.Pool, n.Name))
			}
		}
		hint := strings.Join(ways, " ")
		if n.Pool != "" {
			hint += ", or with the name of one node"
		}
		notes = append(notes, plan.Note{Key: plan.Key("node/" + n.Name), Text: strings.Join(texts, "; "), Hint: hint})
	}
	return notes
}
