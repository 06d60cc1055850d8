package review

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
)

// notes prints what all sections refuse, take consent for, warn of and leave.
func (w *writer) notes() {
	var refused, warnings, left []plan.Note
	if w.Cloud != nil {
		refused, warnings, left = slices.Clone(w.Cloud.Refusals), slices.Clone(w.Cloud.Warnings), w.Cloud.Left
	}
	if w.Nodes != nil {
		refused, warnings = append(refused, w.Nodes.Refusals...), append(warnings, w.Nodes.Warnings...)
	}
	if w.Kubernetes != nil {
		refused, warnings = append(refused, w.Kubernetes.Refusals...), append(warnings, w.Kubernetes.Warnings...)
	}
	if w.Recreate != nil {
		refused, warnings = append(refused, w.Recreate.Refusals...), append(warnings, w.Recreate.Warnings...)
	}
	warnings = slices.DeleteFunc(warnings, first)
	w.Paragraph("refused", refused)
	w.Consents(w.ways())
	w.Paragraph("wait for consent to be recreated", w.waiting())
	w.Paragraph("warnings", warnings)
	w.Paragraph("left as it is", left)
}

// Project is the key of a warning that the whole plan may be about the wrong project.
const Project plan.Key = "project"

func first(n plan.Note) bool { return n.Key == Project }

// project prints, before anything else, that the plan may be about the wrong project.
func (w *writer) project() {
	if w.Cloud == nil {
		return
	}
	for _, n := range w.Cloud.Warnings {
		if first(n) {
			w.Line(0, "warning: %s", n.Text)
			w.Line(2, "%s", n.Hint)
			w.Blank()
		}
	}
}

// ways are how consent is given, once for each object: consent to delete the server
// of a node is consent to remove the node.
func (r Review) ways() (ways []string) {
	if r.Cloud != nil {
		ways = r.Cloud.Ways()
	}
	for _, name := range r.Removals() {
		ways = append(ways, "--allow "+name)
	}
	if r.Kubernetes != nil {
		ways = append(ways, r.Kubernetes.Ways()...)
	}
	return ways
}

// Removals are the nodes that leave, for which consent is missing and no change of
// their server asks for it.
func (r Review) Removals() (names []string) {
	if r.Nodes == nil {
		return nil
	}
	for _, name := range r.Nodes.Consents() {
		key := cloudplan.KeyOf(cloudplan.KindServer, name)
		asked := r.Cloud != nil && slices.ContainsFunc(r.Cloud.Changes, func(c cloudplan.Change) bool { return c.Key == key && !c.Allowed })
		if !asked {
			names = append(names, name)
		}
	}
	return names
}
