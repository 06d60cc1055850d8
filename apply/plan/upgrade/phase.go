package upgrade

import (
	"cmp"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// phase is what one group of nodes gets before the next phase begins.
type phase struct {
	hop   upgradepath.Hop
	group group
	// What nodes have after it; empty is what they have. Program is that of the
	// control plane whose version is kubernetes; empty is the kubelet.
	talos, kubernetes, program string
	// Talos' objects in Kubernetes get a version, or nodes Git's contract.
	manifests, contract bool
	// Nodes of the autoscaler are deleted that do not have the versions.
	recycle bool
}

// order knows the way of a fleet to what Git has, phase by phase.
type order struct{ *fleet }

// phases are all that lies between what runs and what Git has, in their order.
func (f order) phases() ([]phase, error) {
	hops, err := f.hops()
	if err != nil {
		return nil, err
	}
	var all []phase
	for i := 0; i < len(hops); i++ {
		h := hops[i]
		if h.Component == upgradepath.Kubernetes {
			all = append(all, kubernetes(h, "")...)
			continue
		}
		all = append(all, phase{hop: h, group: controlPlanes, talos: h.To})
		if i+1 < len(hops) && together(h, hops[i+1]) {
			i++
			all = append(all, kubernetes(hops[i], h.To)...)
			continue
		}
		all = append(all, phase{hop: h, group: workers, talos: h.To}, phase{hop: h, group: autoscaled, talos: h.To})
	}
	return append(f.objects(), f.until(slices.Concat(all, f.contracts(), f.recycling()))...), nil
}

// together reports whether workers get Talos and Kubernetes with one drain: each of
// both versions of Talos runs each of both kubelets.
func together(talos, next upgradepath.Hop) bool {
	before, _ := upgradepath.Supports(talos.From, next.To)
	after, _ := upgradepath.Supports(talos.To, next.To)
	return next.Component == upgradepath.Kubernetes && before && after
}

// kubernetes are the phases of a hop of Kubernetes; workers get Talos with it if a
// version is given.
func kubernetes(h upgradepath.Hop, talos string) (all []phase) {
	for _, program := range programs {
		all = append(all, phase{hop: h, group: controlPlanes, program: program, kubernetes: h.To})
	}
	return append(all, phase{hop: h, group: controlPlanes, kubernetes: h.To},
		phase{hop: h, group: workers, kubernetes: h.To, talos: talos}, phase{hop: h, group: autoscaled, kubernetes: h.To, talos: talos})
}

// objects is the phase before all others: Talos' own objects in Kubernetes have the
// version that all nodes have by now.
func (f order) objects() []phase {
	if f.policy.Component == OnlyTalos {
		return nil
	}
	return []phase{{manifests: true, kubernetes: strings.TrimPrefix(f.lowest().Kubernetes, "v")}}
}

// contracts are the phases when all versions are reached.
func (f order) contracts() []phase {
	if f.policy.Component != Everything || !f.readable() {
		return nil
	}
	return []phase{{group: controlPlanes, contract: true}, {group: workers, contract: true}}
}

// readable reports whether the Talos of every node reads configurations of the contract
// that Git has: one that is left behind may be replaced, or go back.
func (f *fleet) readable() bool {
	newest := ""
	for _, n := range f.pairs {
		newest = upgradepath.Newest(newest, n.want.Contract)
	}
	return !slices.ContainsFunc(f.pairs, func(n pair) bool { return behind(n.Talos, newest) > 0 })
}

// until cuts off what the policy leaves for later.
func (f order) until(all []phase) []phase {
	if f.policy.Until == ToTheEnd || len(all) == 0 {
		return all
	}
	first := all[0].hop
	end := slices.IndexFunc(all, func(p phase) bool { return p.hop != first || p.group != controlPlanes || p.contract })
	return all[:max(end, 0)]
}

// hops are those from the lowest version of the fleet to Git's.
func (f order) hops() ([]upgradepath.Hop, error) {
	now, goal := f.lowest(), f.goal()
	if now == (upgradepath.State{}) {
		return nil, nil // no node is known
	}
	switch f.policy.Component {
	case OnlyTalos:
		goal.Kubernetes = now.Kubernetes
	case OnlyKubernetes:
		goal.Talos = now.Talos
	}
	hops, err := upgradepath.Path(now, goal)
	if err != nil || f.policy.Component == OnlyKubernetes || slices.ContainsFunc(hops, ofTalos) || !f.otherImage() {
		return hops, err
	}
	image := upgradepath.Hop{Component: upgradepath.Talos, From: strings.TrimPrefix(goal.Talos, "v"), To: strings.TrimPrefix(goal.Talos, "v")}
	return append([]upgradepath.Hop{image}, hops...), nil
}

func ofTalos(h upgradepath.Hop) bool { return h.Component == upgradepath.Talos }

// otherImage reports whether a node has the right version of Talos from another
// image.
func (f order) otherImage() bool {
	return slices.ContainsFunc(f.pairs, func(n pair) bool { return n.Reached && !n.recycled && n.otherImage() })
}

func (n pair) otherImage() bool { return n.want.Schematic != "" && n.Schematic != n.want.Schematic }

// lowest are the oldest versions that nodes are known to run.
func (f order) lowest() (s upgradepath.State) {
	for _, n := range f.pairs {
		if n.recycled || !n.Reached && !n.inFlight() {
			continue
		}
		s.Talos = upgradepath.Older(s.Talos, n.Talos)
		s.Kubernetes = upgradepath.Older(s.Kubernetes, n.Kubelet)
		for _, p := range n.Programs {
			s.Kubernetes = upgradepath.Older(s.Kubernetes, p.Configured)
			s.Kubernetes = upgradepath.Older(s.Kubernetes, cmp.Or(p.Running, p.Configured))
		}
	}
	return s
}

// goal are Git's versions.
func (f order) goal() (s upgradepath.State) {
	for _, w := range f.want.Nodes {
		s.Talos = upgradepath.Newest(s.Talos, w.Talos)
		s.Kubernetes = upgradepath.Newest(s.Kubernetes, w.Kubernetes)
	}
	return s
}

// due reports whether a phase has something to do at a node.
func (p phase) due(n pair) bool {
	switch {
	case p.manifests || groupOf(n.Node) != p.group || !n.known():
		return false
	case p.contract:
		return older(n.Contract, n.want.Contract)
	case p.program != "":
		program, found := n.Programs[p.program]
		return found && moves(program.Configured, p.kubernetes, n.want.Kubernetes)
	}
	return p.dueTalos(n) || p.dueKubelet(n)
}

func (p phase) dueTalos(n pair) bool {
	return p.talos != "" && n.recycled == p.recycle && (moves(n.Talos, p.talos, n.want.Talos) || Same(p.talos, n.want.Talos) && Same(n.Talos, p.talos) && n.Reached && n.otherImage())
}

func (p phase) dueKubelet(n pair) bool {
	return p.kubernetes != "" && p.program == "" && n.recycled == p.recycle && moves(n.Kubelet, p.kubernetes, n.want.Kubernetes)
}

// moves reports whether a version becomes that of a hop: what is ahead of a hop is
// left alone, unless Git has that older patch.
func moves(now, to, goal string) bool { return !Same(now, to) && (older(now, to) || Same(to, goal)) }

// drains reports whether the node is drained for the phase: patches of the kubelet
// and programs of the control plane change under running pods.
func (p phase) drains(n pair) bool {
	return p.recycle || p.dueTalos(n) || p.dueKubelet(n) && !upgradepath.SameMinor(n.Kubelet, p.kubernetes)
}

// name is the hop, as people know it.
func (p phase) name() string {
	switch {
	case p.contract:
		return "contract"
	case p.manifests:
		return "manifests " + p.kubernetes
	case p.recycle:
		return recycle
	}
	return p.hop.String()
}
