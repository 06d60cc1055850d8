package upgrade

import (
	"cmp"
	"maps"
	"slices"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// clone is a copy whose nodes may be changed.
func (o Observed) clone() Observed {
	o.Nodes, o.Members, o.Saved = slices.Clone(o.Nodes), slices.Clone(o.Members), slices.Clone(o.Saved)
	for i := range o.Nodes {
		n := &o.Nodes[i]
		n.Images, n.Programs = slices.Clone(n.Images), maps.Clone(n.Programs)
		if n.Mark != nil {
			mark := *n.Mark
			n.Mark = &mark
		}
	}
	return o
}

// after is what is observed when a step has worked.
func (o *Observed) after(s Step, want Want) {
	n := o.node(s.Node)
	switch s.Action {
	case Snapshot:
		o.Saved = append(o.Saved, s.Hop)
	case Manifests:
		o.Manifests = s.Version
	case Pull:
		n.Images = append(n.Images, s.Image)
	case Drain:
		n.Drained = !n.Cordoned
	case Uncordon:
		n.Drained = false
	case Confirm, Forget:
		n.Mark = nil
		n.Before = cmp.Or(s.Before, n.Before)
	case Rollback:
		n.Mark = &Mark{Phase: Returning, Version: s.Version, Schematic: s.Schematic, Boot: n.Boot, Run: o.Run, Try: s.Try}
		o.reboot(n, want)
	case Install:
		n.Before = s.Before
		n.Mark = &Mark{Phase: Installed, Version: s.Version, Schematic: s.Schematic, Boot: n.Boot, Run: o.Run, Try: s.Try}
		if s.Legacy {
			o.reboot(n, want)
		}
	case Boot:
		o.reboot(n, want)
	case Transfer:
		o.transfer(s.Node)
	case Contract:
		n.Contract = s.Version
	case Delete:
		o.Nodes = slices.DeleteFunc(o.Nodes, func(n Node) bool { return n.Name == s.Node })
	case Configure:
		n.configure(s.Component, s.Version)
	}
}

// reboot starts what was installed. etcd comes with it, unless its version is another
// than that of the Talos before: then the configuration names it.
func (o *Observed) reboot(n *Node, want Want) {
	n.Boot += "'"
	if n.Mark.Phase == Failed {
		return
	}
	for i := range o.Members {
		if m := &o.Members[i]; m.Node == n.Name && m.Version == upgradepath.Etcd(n.Talos) {
			m.Version = upgradepath.Etcd(n.Mark.Version)
		}
	}
	before := n.Talos
	n.Talos, n.Schematic, n.Extensions = "v"+n.Mark.Version, n.Mark.Schematic, want.Extensions
	switch {
	case n.Role != ControlPlane || !o.Alike():
	case behind(before, n.Talos) != 0:
		o.Manifests = Outdated
	case o.Manifests == "":
		o.Manifests = o.Oldest()
	}
}

// Outdated is the version of Talos' own objects in Kubernetes that are not what they are
// to be: as a rule another minor of Talos has other ones.
const Outdated = "1.0.0"

// Alike reports whether control planes run the same Talos, and so have the same objects.
func (o *Observed) Alike() bool {
	var talos []string
	for _, n := range o.Nodes {
		if n.Role == ControlPlane {
			talos = append(talos, n.Talos)
		}
	}
	return len(slices.Compact(talos)) < 2
}

// Oldest is the oldest version of Kubernetes that nodes run which are reached; empty if
// none is.
func (o *Observed) Oldest() (version string) {
	for _, n := range o.Nodes {
		if n.Reached {
			version = upgradepath.Older(version, n.Kubelet)
		}
		for _, p := range n.Programs {
			version = upgradepath.Older(version, cmp.Or(p.Running, p.Configured))
		}
	}
	return version
}

func (n *Node) configure(program, version string) {
	if program == Kubelet {
		n.Kubelet = version
		return
	}
	p := Program{Configured: version, Running: version, Ready: true}
	if program == Proxy {
		p.Running = ""
	}
	n.Programs[program] = p
}

// transfer lets the first other voter lead.
func (o *Observed) transfer(from string) {
	for i := range o.Members {
		o.Members[i].Leader = false
	}
	if i := slices.IndexFunc(o.Members, func(m Member) bool { return m.Node != from && !m.Learner }); i >= 0 {
		o.Members[i].Leader = true
	}
}

// settle is what is observed when everything that is on its way has arrived.
func (o *Observed) settle(soak int) {
	for i := range o.Nodes {
		n := &o.Nodes[i]
		if n.Reached {
			n.Up = max(n.Up, soak)
		}
		for name, p := range n.Programs {
			if p.Running != "" {
				n.Programs[name] = Program{Configured: p.Configured, Running: p.Configured, Ready: true}
			}
		}
		if !n.inFlight() {
			continue
		}
		n.Reached, n.Busy, n.Stage, n.Ready = true, false, StageRunning, true
		for j := range o.Members {
			if o.Members[j].Node == n.Name {
				o.Members[j].Healthy, o.Members[j].Learner = true, false
			}
		}
	}
}
