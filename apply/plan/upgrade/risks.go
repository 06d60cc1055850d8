package upgrade

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// The ids of risks; some have a colon and an object behind them.
const (
	RiskHops       = "C-hops"        // through a version that Git does not name
	RiskDowngrade  = "C-downgrade"   // to an older patch of Talos
	RiskExtensions = "C-extensions"  // an extension that runs is not in the new image
	RiskNoReturn   = "C-no-return"   // etcd gets another minor
	RiskSingle     = "C-single"      // the only member of etcd stops for a boot
	RiskTwo        = "C-two"         // one of two members of etcd stops for a boot
	RiskNoSnapshot = "C-no-snapshot" // without saving etcd
	RiskBudget     = "C-pdb"         // pods go though their budget does not allow it
	RiskPods       = "C-pods"        // pods end that run nowhere else
	RiskRemoved    = "C-removed"     // clients use what the new version does not have
	RiskContract   = "C-contract"    // Git's configuration changes more than its contract
	RiskPrerelease = "C-prerelease"  // to a version before its release
	RiskUnknown    = "C-unknown"     // to a minor of Talos that talosgen does not know
	RiskRecycle    = "C-recycle"     // servers of the autoscaler are deleted
)

// Known reports whether an id is that of a risk, with or without its object.
func Known(id string) bool {
	kind, object, _ := strings.Cut(id, ":")
	return meanings[kind] != "" && (object != "") == (kind == RiskBudget || kind == RiskPods)
}

// risks are what consent is needed for before a phase begins with a node.
func (f *fleet) risks(n pair, p phase) (ids []string) {
	add := func(holds bool, id string) {
		if holds && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	add(p.hop.Reason != "", RiskHops)
	add(strings.Contains(p.hop.To, "-"), RiskPrerelease)
	add(p.recycle, RiskRecycle)
	if p.dueTalos(n) && !p.recycle {
		add(upgradepath.Etcd(p.talos) == "", RiskUnknown)
		add(older(p.talos, n.Talos), RiskDowngrade)
		add(len(n.dropped()) > 0, RiskExtensions)
		if n.Role == ControlPlane {
			add(p.hop.Etcd != "", RiskNoReturn)
			add(f.seen.voters() == 1, RiskSingle)
			add(f.seen.voters() == 2, RiskTwo)
		}
	}
	add(p.contract && len(n.Moves) > 0, RiskContract)
	if p.program == APIServer {
		add(slices.ContainsFunc(f.removed(p), func(r Removed) bool { return !r.Stored }), RiskRemoved)
	}
	if p.drains(n) {
		ids = append(ids, f.ends(n)...)
	}
	return ids
}

// ends are the risks of a drain: pods that end, and start nowhere else meanwhile.
func (f *fleet) ends(n pair) (ids []string) {
	for _, b := range f.seen.Budgets {
		if b.Stuck && slices.Contains(b.Nodes, n.Name) {
			ids = append(ids, RiskBudget+":"+b.Name)
		}
	}
	for _, pod := range f.seen.Bare[n.Name] {
		ids = append(ids, RiskPods+":"+pod)
	}
	return ids
}

// dropped are the extensions that run, and that Git's image does not have, or is not
// known to have.
func (n pair) dropped() (names []string) {
	if n.want.Schematic != "" && n.Schematic == n.want.Schematic {
		return nil
	}
	for _, e := range n.Extensions {
		if !slices.Contains(n.want.Extensions, e) {
			names = append(names, e)
		}
	}
	return names
}

// removed is what is used, and what the version of a phase has no more.
func (f *fleet) removed(p phase) (all []Removed) {
	for _, r := range f.seen.Removed {
		if p.hop.Component == upgradepath.Kubernetes && !older(p.kubernetes, r.In) {
			all = append(all, r)
		}
	}
	return all
}

// clients are uses of what ends, in one line each, but for stored objects.
func clients(uses []Removed) (lines []string) {
	for _, r := range uses {
		if !r.Stored {
			lines = append(lines, r.What+" of "+r.Owner)
		}
	}
	return lines
}

// meaning says what a risk is.
func meaning(id string) string {
	kind, object, _ := strings.Cut(id, ":")
	if object != "" {
		return object + ": " + meanings[kind]
	}
	return meanings[kind]
}

// meanings are what risks are, by their kind.
var meanings = map[string]string{
	RiskHops:       "the way leads through versions that Git does not name",
	RiskDowngrade:  "Talos goes back to an older patch",
	RiskExtensions: "extensions that run are not in Git's image",
	RiskNoReturn:   "etcd gets another minor: no way back when the last control plane node has it",
	RiskSingle:     "the only control plane node reboots: no Kubernetes API meanwhile",
	RiskTwo:        "one of two members of etcd reboots: etcd does not serve meanwhile",
	RiskNoSnapshot: "etcd is not saved before",
	RiskBudget:     "its budget never allows an eviction: pods end without a replacement",
	RiskPods:       "it ends, and nothing starts it elsewhere",
	RiskContract:   "the configuration in Git's contract has other values as well",
	RiskRemoved:    "clients use API versions that the new Kubernetes does not have",
	RiskRecycle:    "servers of the autoscaler are deleted with their disks; it makes new ones when pods find no place, each billed from its first hour",
	RiskPrerelease: "the version is one before its release, from which no upgrade is supported",
	RiskUnknown:    "this talosgen does not know the minor of Talos, nor which etcd comes with it",
}
