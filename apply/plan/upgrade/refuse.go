package upgrade

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/versions"
)

// refuser knows the rules that forbid to begin.
type refuser struct{ *fleet }

// refusals are why no phase begins, whatever is agreed to. The phase is the one that
// would begin.
func (f refuser) refusals(p phase) (notes []Note) {
	for _, rule := range []func(phase) []Note{f.unknown, f.misnamed, f.rolledBack, f.versionSkew, f.floor, f.pairOfMembers, f.images, f.unnamed, f.unmovable, f.skew, f.gone, f.arguments, f.stale} {
		notes = append(notes, rule(p)...)
	}
	for _, text := range f.seen.Drift {
		notes = append(notes, Note{ID: "R12", Text: text, Hint: "run talosgen apply first"})
	}
	return notes
}

// noPath is R1: why there is no way to Git's versions.
func noPath(err error) (notes []Note) {
	var list diag.List
	list.AddErr(err)
	for _, p := range list {
		notes = append(notes, Note{ID: "R1", Text: p.Message, Hint: p.Hint})
	}
	return notes
}

// unknown refuses names of nodes that are not of this cluster.
func (f refuser) unknown(phase) (notes []Note) {
	for _, name := range slices.Concat(f.policy.Nodes, f.policy.Retry) {
		if n := f.seen.node(name); n == nil {
			notes = append(notes, Note{Node: name, Text: "the cluster has no node of this name"})
		}
	}
	return notes
}

// misnamed refuses nodes that have the name of another one in Kubernetes, or none that Git
// knows: what is meant for one of them would be done to another, and neither drained nor
// noted at the right place.
func (f refuser) misnamed(phase) (notes []Note) {
	for _, n := range f.seen.Nodes {
		if n.Registers == "" || n.Registers == n.Name {
			continue
		}
		text := fmt.Sprintf("it is the node %s in Kubernetes", n.Registers)
		for _, o := range f.seen.Nodes {
			if o.Name != n.Name && o.Registers == n.Registers {
				text = fmt.Sprintf("it and %s are the same node %s in Kubernetes", o.Name, n.Registers)
			}
		}
		notes = append(notes, Note{Node: n.Name, Text: text, Hint: "its hostname must be " + n.Name + ": look at the patches with machine.network.hostname or HostnameConfig, render and apply, and reboot the node"})
	}
	return notes
}

// versionSkew is R1 for single nodes.
func (f refuser) versionSkew(phase) (notes []Note) {
	goal := order(f).goal()
	for _, n := range f.pairs {
		for _, v := range []struct{ what, runs, goal string }{{"Talos", n.Talos, goal.Talos}, {"Kubernetes", n.Kubelet, goal.Kubernetes}} {
			if older(v.goal, v.runs) && !upgradepath.SameMinor(v.goal, v.runs) {
				notes = append(notes, Note{ID: "R1", Node: n.Name, Text: fmt.Sprintf("it runs %s %s, and Git has the older %s", v.what, v.runs, v.goal),
					Hint: "a minor version does not go back: replace the node, or set the newer version in cluster.env"})
			}
		}
	}
	return notes
}

// floor is R2: members of etcd that cannot live with one of the next minor.
func (f refuser) floor(p phase) (notes []Note) {
	if p.hop.Etcd == "" {
		return nil
	}
	for _, m := range f.seen.Members {
		if need := upgradepath.Floor(m.Version, p.hop.Etcd); need != "" {
			notes = append(notes, Note{ID: "R2", Node: m.Node, Text: fmt.Sprintf("its etcd is %s, and must be %s before one of %s joins", m.Version, need, p.hop.Etcd),
				Hint: "cluster.etcd.image keeps it from following Talos"})
		}
	}
	return notes
}

// pairOfMembers is R4: before Talos 1.13 the call that upgrades a member of etcd refuses
// to take down one of two.
func (f refuser) pairOfMembers(p phase) (notes []Note) {
	for _, n := range f.pairs {
		if n.Role == ControlPlane && n.Reached && n.Mark == nil && p.dueTalos(n) && n.legacy() && f.seen.voters() == 2 {
			notes = append(notes, Note{ID: "R4", Node: n.Name, Text: fmt.Sprintf("Talos %s does not upgrade one of two members of etcd", n.Talos),
				Hint: "add a third control plane node first, or remove one"})
		}
	}
	return notes
}

// images are R6, R7 and R8: nodes that would not start with the new system.
func (f refuser) images(p phase) (notes []Note) {
	for _, n := range f.pairs {
		if n.recycled || !n.Reached || n.Mark != nil || !p.dueTalos(n) {
			continue
		}
		if n.otherFlavour() {
			notes = append(notes, Note{ID: "R6", Node: n.Name, Text: fmt.Sprintf("it runs an image for %s, and Git's is for %s", n.flavour(), flavour(cmp.Or(n.want.Platform, n.Platform), n.want.SecureBoot)),
				Hint: "it would not find its network, or not boot: replace the node, or correct its image in cluster.yaml"})
		}
		if n.Cramped {
			notes = append(notes, Note{ID: "R7", Node: n.Name, Text: "its boot partition has no room for two systems", Hint: "replace the node"})
		}
		if n.Invalid != "" {
			notes = append(notes, Note{ID: "R8", Node: n.Name, Text: fmt.Sprintf("Talos %s would refuse its configuration: %s", n.want.Talos, n.Invalid), Hint: "correct it with talosgen apply first"})
		}
	}
	return notes
}

// otherFlavour reports whether Git's image is for other machines. An image whose name
// tells nothing of that is the operator's own.
func (n pair) otherFlavour() bool {
	if n.want.Schematic == "" && n.want.Platform == "" && !n.want.SecureBoot {
		return false
	}
	return n.want.Platform != "" && n.want.Platform != n.Platform || n.want.SecureBoot != n.SecureBoot
}

func (n pair) flavour() string { return flavour(n.Platform, n.SecureBoot) }

func flavour(platform string, secureBoot bool) string {
	if secureBoot {
		return platform + " with Secure Boot"
	}
	return platform
}

// unmovable refuses configurations of the new contract that change what a node must keep.
func (f refuser) unmovable(p phase) (notes []Note) {
	for _, n := range f.pairs {
		if p.contract && older(n.Contract, n.want.Contract) && len(n.Unmovable) > 0 {
			notes = append(notes, Note{ID: "R8", Node: n.Name, Text: fmt.Sprintf("its configuration in the contract %s would change %s", n.want.Contract, strings.Join(n.Unmovable, ", ")),
				Hint: "a node keeps these as long as it lives: give it the value that it has, or replace it"})
		}
	}
	return notes
}

// farthest is how many minors a kubelet may be behind its API server.
const farthest = 3

// skew is R9: kubelets that are too new or too old for the API servers, or would be.
func (f refuser) skew(p phase) (notes []Note) {
	lowest, highest := servers(f.seen.Nodes)
	if p.hop.Component == upgradepath.Kubernetes {
		highest = upgradepath.Newest(highest, p.kubernetes)
	}
	for _, n := range f.seen.Nodes {
		switch {
		case lowest == "" || versions.Minor(n.Kubelet) < 0:
		case behind(n.Kubelet, lowest) < 0:
			notes = append(notes, Note{ID: "R9", Node: n.Name, Text: fmt.Sprintf("its kubelet %s is newer than an API server, which is %s", n.Kubelet, lowest),
				Hint: "Kubernetes does not support that: remove the node, or give it the older version"})
		case behind(n.Kubelet, highest) > farthest:
			notes = append(notes, Note{ID: "R9", Node: n.Name, Text: fmt.Sprintf("its kubelet %s would be more than %d minors older than the API servers with %s", n.Kubelet, farthest, highest),
				Hint: f.tooFar(n)})
		}
	}
	return notes
}

// tooFar is what to do with a node that is too far behind.
func (f refuser) tooFar(n Node) string {
	if f.policy.recycles(n) {
		return "--autoscaled in-place upgrades it on the way"
	}
	return "upgrade or remove the node first"
}

// servers are the oldest and the newest API server.
func servers(nodes []Node) (lowest, highest string) {
	for _, n := range nodes {
		lowest = upgradepath.Older(lowest, n.Programs[APIServer].Running)
		highest = upgradepath.Newest(highest, n.Programs[APIServer].Running)
	}
	return lowest, highest
}

// gone is R10: stored objects that the next version cannot read.
func (f refuser) gone(p phase) (notes []Note) {
	for _, r := range f.removed(p) {
		if r.Stored {
			notes = append(notes, Note{ID: "R10", Text: fmt.Sprintf("%s of %s: Kubernetes %s does not have it any more", r.What, r.Owner, r.In), Hint: "move it to a newer API version first"})
		}
	}
	return notes
}
