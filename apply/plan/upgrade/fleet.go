package upgrade

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/internal/versions"
)

// pair is a node, and what it is to become.
type pair struct {
	*Node
	want Want
	// It is deleted instead of being upgraded.
	recycled bool
}

// fleet is what a decision is made from.
type fleet struct {
	want   Desired
	seen   *Observed
	policy Policy
	// pairs are the nodes that Git has a version for, by name.
	pairs []pair
}

func newFleet(want Desired, seen *Observed, policy Policy) *fleet {
	f := &fleet{want: want, seen: seen, policy: policy}
	for i := range seen.Nodes {
		n := &seen.Nodes[i]
		if want, found := f.wanted(n); found {
			f.pairs = append(f.pairs, pair{n, want, policy.recycles(*n)})
		}
	}
	sorting.By(f.pairs, func(a, b pair) int { return cmp.Compare(a.Name, b.Name) })
	return f
}

// known reports whether it is known of the node what an upgrade of it needs: of one that is
// deleted Kubernetes says that.
func (n pair) known() bool { return n.Reached || n.recycled && n.Ready }

func (f *fleet) wanted(n *Node) (Want, bool) {
	if n.Autoscaled {
		want, found := f.want.Pools[n.Pool]
		return want, found && !f.policy.Leaves(want)
	}
	i := slices.IndexFunc(f.want.Nodes, func(w Want) bool { return w.Name == n.Name })
	if i < 0 {
		return Want{}, false
	}
	return f.want.Nodes[i], true
}

// of returns the nodes of a group. Control planes come in the order in which they
// are disturbed: who leads etcd comes last.
func (f *fleet) of(g group) (nodes []pair) {
	for _, n := range f.pairs {
		if groupOf(n.Node) == g {
			nodes = append(nodes, n)
		}
	}
	sorting.By(nodes, func(a, b pair) int { return cmp.Compare(f.leads(a.Name), f.leads(b.Name)) })
	return nodes
}

func (f *fleet) leads(node string) int {
	if m, found := f.seen.member(node); found && m.Leader {
		return 1
	}
	return 0
}

// flying are the nodes that a run has begun with and not finished.
func (f *fleet) flying() (nodes []pair) {
	for _, n := range f.pairs {
		if n.inFlight() {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// group is a set of nodes that are done one after the other.
type group int

const (
	controlPlanes group = iota
	workers
	autoscaled
)

func groupOf(n *Node) group {
	switch {
	case n.Role == ControlPlane:
		return controlPlanes
	case n.Autoscaled:
		return autoscaled
	}
	return workers
}

// Same reports whether two versions are equal, with or without a v.
func Same(a, b string) bool { return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v") }

// older reports whether a version is older than another.
func older(a, than string) bool { return upgradepath.Newer(than, a) }

// behind is by how many minors a version is older than another.
func behind(a, than string) int { return versions.Minor(than) - versions.Minor(a) }

// lifecycle is the first minor of Talos with an installer that does not reboot.
const lifecycle = 13

// legacy reports whether the node's installer is called by the older call, which
// reboots.
func (n Node) legacy() bool { return versions.Minor(n.Talos) < lifecycle }
