package upgrade

import (
	"slices"

	"github.com/talosgen/talosgen/internal/versions/kubeflags"
)

// Roles of nodes, in the words of the labels of servers.
const (
	ControlPlane = "control-plane"
	Worker       = "worker"
)

// Desired is what the rendered tree says.
type Desired struct {
	Cluster string
	Nodes   []Want
	// Pools are what the autoscaler makes nodes from, by the name of the pool.
	Pools map[string]Want
}

// Want is what a node is to become.
type Want struct {
	Name, Role, Pool string
	// Of a pool: the group of the autoscaler, which the names of its nodes begin with, the
	// type of its servers, and whether its nodes are left unless the policy says what
	// becomes of them.
	Group, Server string
	Left          bool
	// The versions that Git has, with or without a v.
	Talos, Kubernetes string
	// Installer is the image of the installer without its tag.
	Installer string
	// The id of the image's schematic, the extensions that are known to be in it, the
	// platform, and whether it is of the flavour for Secure Boot; see [ParseInstaller].
	Schematic  string
	Extensions []string
	Platform   string
	SecureBoot bool
	// Images are those of the programs of Kubernetes in Git's configuration, by
	// program.
	Images map[string]string
	// Contract is the version contract of the configuration, such as v1.14.
	Contract string
	// Sets are what Git starts programs of Kubernetes with.
	Sets []kubeflags.Set
}

// Component limits an upgrade to a part of it.
type Component string

// The limits.
const (
	Everything     Component = ""
	OnlyTalos      Component = "talos"
	OnlyKubernetes Component = "kubernetes"
)

// Until ends an upgrade early.
type Until string

// The ends.
const (
	ToTheEnd      Until = ""
	First         Until = "first"          // the first control plane node has the first hop
	ControlPlanes Until = "control-planes" // all control plane nodes have the first hop
)

// Autoscaled says what becomes of nodes that the autoscaler made.
type Autoscaled string

// The ways.
const (
	AsGit   Autoscaled = ""         // in place, but for pools that are left
	InPlace Autoscaled = "in-place" // they are upgraded as workers are, after them
	Leave   Autoscaled = "leave"    // they keep their versions
	Recycle Autoscaled = "recycle"  // they are drained and deleted: the autoscaler makes others
)

// Policy is what the operator agrees to.
type Policy struct {
	Component  Component
	Until      Until
	Autoscaled Autoscaled
	// Nodes limits the upgrade to some of them; none are all.
	Nodes []string
	// How many workers may be away at once; 0 is 1. Percent is how many of a hundred
	// may, if that is more.
	MaxParallel, Percent int
	// How many seconds the first node of each role must have been up with its new
	// version before others follow.
	Soak int
	// RebootMode is how nodes reboot: default, powercycle; empty is as Git says.
	RebootMode string
	// Rollback lets nodes go back to the Talos that they ran before: those in Nodes, or
	// all that have Git's.
	Rollback bool
	// Retry names nodes that are tried again after they failed or went back.
	Retry []string
	// Allow holds ids of risks.
	Allow []string
}

// Of is the policy, for Talos only or for Kubernetes only; for everything if neither, or
// both, are asked for.
func (p Policy) Of(talos, kubernetes bool) Policy {
	p.Component = Everything
	switch {
	case talos && !kubernetes:
		p.Component = OnlyTalos
	case kubernetes && !talos:
		p.Component = OnlyKubernetes
	}
	return p
}

// Leaves reports whether nodes that the autoscaler made of a pool keep their versions.
func (p Policy) Leaves(pool Want) bool {
	return p.Autoscaled == Leave || p.Autoscaled == AsGit && pool.Left
}

// recycles reports whether a node is deleted instead of being upgraded.
func (p Policy) recycles(n Node) bool { return n.Autoscaled && p.Autoscaled == Recycle }

// concerns reports whether an upgrade is about a node.
func (p Policy) concerns(node string) bool {
	return len(p.Nodes) == 0 || slices.Contains(p.Nodes, node)
}

// Parallel is how many of some workers may be away at once.
func (p Policy) Parallel(workers int) int { return max(p.MaxParallel, workers*p.Percent/100, 1) }

// missing are the risks of a step that nobody has agreed to.
func (p Policy) missing(risks []string) (ids []string) {
	for _, id := range risks {
		if !slices.Contains(p.Allow, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
