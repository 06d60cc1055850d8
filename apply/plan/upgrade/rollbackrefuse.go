package upgrade

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
	"github.com/talosgen/talosgen/internal/versions"
)

// refusals are why nodes do not go back, whatever is agreed to.
func (f returner) refusals(targets []pair) (notes []Note) {
	notes = append(notes, refuser(f).unknown(phase{})...)
	for _, n := range f.seen.Nodes {
		if n.Autoscaled && slices.Contains(f.policy.Nodes, n.Name) {
			notes = append(notes, Note{Node: n.Name, Text: "the autoscaler made it, and would make the next one with the newer Talos",
				Hint: "set talos.version back in Git, and run talosgen apply; then remove the node"})
		}
	}
	for _, n := range targets {
		if n.Mark != nil && n.Mark.Phase == Returning {
			continue // it has begun
		}
		if !n.Reached {
			continue // that is waited for
		}
		for _, rule := range []func(pair) []Note{f.unknown, f.reads, f.runsKubernetes, f.etcdBack} {
			if found := rule(n); len(found) > 0 {
				notes = append(notes, found...)
				break
			}
		}
	}
	return notes
}

// unknown refuses nodes of which it is not known what they ran.
func (f returner) unknown(n pair) []Note {
	if n.returns() {
		return nil
	}
	return []Note{{Node: n.Name, Text: fmt.Sprintf("what it ran before Talos v%s is not known: no talosgen upgrade has noted it", bare(n.Talos)),
		Hint: "name other nodes with --node; or replace it"}}
}

// reads is R8: the Talos of before does not read the configuration that the node has.
func (f returner) reads(n pair) []Note {
	if n.Contract != nodeconfig.ContractDocuments || behind(n.Before.From.Version, n.Contract) <= 0 {
		return nil
	}
	return []Note{{ID: "R8", Node: n.Name, Text: fmt.Sprintf("its configuration has the contract %s, which Talos v%s does not read", n.Contract, n.Before.From.Version),
		Hint: "no node goes back after that: replace it, or go on with a newer Talos"}}
}

// runsKubernetes is R1: the Talos of before does not run the Kubernetes that the node has.
func (f returner) runsKubernetes(n pair) []Note {
	has := []string{n.Kubelet}
	for _, p := range n.Programs {
		has = append(has, p.Configured)
	}
	for _, version := range has {
		if supported, _ := upgradepath.Supports(n.Before.From.Version, version); !supported && versions.Minor(version) >= 0 {
			return []Note{{ID: "R1", Node: n.Name, Text: fmt.Sprintf("it has Kubernetes %s, which Talos v%s does not support", bare(version), n.Before.From.Version),
				Hint: "Kubernetes does not go back by a minor: go on with a newer Talos, or replace the node"}}
		}
	}
	return nil
}

// etcdBack is R2: a member of etcd that would be older than what its peers have written,
// or too old for them.
func (f returner) etcdBack(n pair) []Note {
	m, found := f.seen.member(n.Name)
	now, older := upgradepath.Etcd(n.Talos), upgradepath.Etcd(n.Before.From.Version)
	if n.Role != ControlPlane || found && m.Version != "" && m.Version != now { // the configuration names its image
		return nil
	}
	if why := f.crossed(n, older, now); why != "" && behind(older, now) > 0 {
		return []Note{{ID: "R2", Node: n.Name, Text: fmt.Sprintf("%s, and Talos v%s has %s: it would not start", why, n.Before.From.Version, older),
			Hint: "a snapshot of etcd can be restored into a new cluster; or go on with a newer Talos"}}
	}
	for _, o := range f.seen.Members {
		if need := upgradepath.Floor(older, o.Version); o.Node != n.Name && need != "" {
			return []Note{{ID: "R2", Node: n.Name, Text: fmt.Sprintf("its etcd would be %s, and must be %s beside the %s of %s", older, need, o.Version, o.Node),
				Hint: "go on with a newer Talos; or roll back the others first"}}
		}
	}
	return nil
}

// crossed says why a member of etcd must not get an older minor; empty if it may: when
// all members have the newer one, they write what the older one does not read.
func (f returner) crossed(n pair, older, now string) string {
	own, _ := f.seen.member(n.Name)
	all := own.Healthy
	for _, m := range f.seen.Members {
		if behind(older, m.Storage) > 0 && m.Storage != "" {
			return "etcd writes what is of " + m.Storage
		}
		all = all && (m.Node == n.Name || behind(older, m.Version) > 0)
	}
	if all {
		return "every member of etcd has " + now
	}
	return ""
}
