package upgrade

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// checker looks whether a cluster is well enough to go on.
type checker struct{ *fleet }

// unwell is what is not as it should be, and what must be mended before anything new
// is disturbed. Nodes in flight are not part of it, and neither are workers that
// nobody reaches: these are left.
func (f checker) unwell() (notes []Note) {
	notes = append(f.etcd(), f.controlPlanes()...)
	for _, n := range f.seen.Nodes {
		if n.Reached && !n.inFlight() && n.Role != ControlPlane && !n.healthy() {
			notes = append(notes, Note{Node: n.Name, Text: "it is not ready", Hint: "see talosgen health"})
		}
	}
	for _, text := range f.seen.Problems {
		notes = append(notes, Note{Text: text, Hint: "see talosgen health"})
	}
	return notes
}

// controlPlanes are the control plane nodes that are not as they should be.
func (f checker) controlPlanes() (notes []Note) {
	for _, n := range f.of(controlPlanes) {
		switch {
		case n.inFlight():
		case n.Refused != "":
			notes = append(notes, n.shut("R11", "the control plane node does not let you in"))
		case !n.Reached:
			notes = append(notes, Note{ID: "R11", Node: n.Name, Text: "the control plane node is not reached", Hint: "mend or remove it first"})
		case !n.healthy():
			notes = append(notes, Note{Node: n.Name, Text: "the control plane node is not ready", Hint: "see talosgen health"})
		}
		for _, name := range programs {
			if p, found := n.Programs[name]; found && !p.settled() {
				notes = append(notes, Note{Node: n.Name, Text: fmt.Sprintf("%s does not run %s yet", name, p.Configured)})
			}
		}
	}
	return notes
}

// shut is a note of a node that does not let talosgen in.
func (n Node) shut(id, text string) Note {
	return Note{ID: id, Node: n.Name, Text: text + ": " + n.Refused, Hint: n.RefusedHint, AccessDenied: true}
}

// etcd is R3: all members vote, are healthy and known, and not too far apart.
func (f checker) etcd() (notes []Note) {
	bad := func(node, format string, args ...any) {
		notes = append(notes, Note{ID: "R3", Node: node, Text: fmt.Sprintf(format, args...), Hint: "see talosgen health"})
	}
	if !f.seen.Known && slices.ContainsFunc(f.seen.Nodes, func(n Node) bool { return n.Refused != "" }) {
		return nil // that is why
	}
	if !f.seen.Known {
		bad("", "the members of etcd are not known")
		return notes
	}
	lowest, highest := "", ""
	for _, m := range f.seen.Members {
		lowest, highest = upgradepath.Older(lowest, m.Version), upgradepath.Newest(highest, m.Version)
		switch n := f.seen.node(m.Node); {
		case n == nil || n.Role != ControlPlane:
			bad(m.Node, "a member of etcd is of no control plane node")
		case n.inFlight(), n.Refused != "": // it is away because of the upgrade, or is told of besides
		case m.Learner:
			bad(m.Node, "its member of etcd does not vote")
		case !m.Healthy:
			bad(m.Node, "its member of etcd is not healthy")
		case m.Lagging:
			bad(m.Node, "its member of etcd is behind the leader")
		}
		if m.Alarm != "" {
			bad(m.Node, "etcd has the alarm %s", m.Alarm)
		}
	}
	for _, n := range f.of(controlPlanes) {
		if _, found := f.seen.member(n.Name); !found {
			bad(n.Name, "it has no member of etcd")
		}
	}
	if lowest != "" && behind(lowest, highest) > 1 {
		bad("", "members of etcd are more than one minor apart: %s and %s", lowest, highest)
	}
	return notes
}
