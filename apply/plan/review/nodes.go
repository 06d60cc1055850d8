package review

import (
	"fmt"
	"slices"
	"strings"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/apply/plan/recreate"
)

// nodes prints what happens to some nodes, in their order: one line for each, and
// below those to which the same happens what that is.
func (w *writer) nodes(when string, of func(node string) bool) {
	if w.Nodes == nil {
		return
	}
	some := *w.Nodes
	some.Steps = slices.DeleteFunc(slices.Clone(some.Steps), func(s nodeplan.Step) bool { return !of(s.Node) })
	some.Refusals = nil
	rows := some.Rows(every)
	if len(rows) == 0 {
		return
	}
	w.Blank()
	w.Line(0, "%s, nodes%s: %s", w.Cluster, when, some.Summary())
	w.Blank()
	for _, r := range rows {
		w.row(r)
	}
}

// late reports whether the server of a node is made when other nodes have left.
func (r Review) late(node string) bool {
	return r.Cloud != nil && slices.ContainsFunc(r.Cloud.Changes, func(c cloudplan.Change) bool {
		return c.Kind == cloudplan.KindServer && c.Action == cloudplan.Create && c.Name == node && r.last(c)
	})
}

// held prints what nodes keep though Git has something else, and the upgrade that is
// pending.
func (w *writer) held() {
	if w.Nodes == nil {
		return
	}
	held := *w.Nodes
	if w.Recreate != nil {
		held.Held = slices.DeleteFunc(slices.Clone(held.Held), func(h nodeplan.Held) bool {
			return slices.ContainsFunc(w.Recreate.Nodes, func(n recreate.Node) bool { return n.Name == h.Node }) &&
				h.Class == nodeconfig.Replacement && !h.Whole()
		})
	}
	for i, text := range held.HeldLines() {
		if i == 0 {
			w.Blank()
			w.Line(0, "held:")
		}
		w.Line(2, "%s", text)
	}
	for i, text := range w.Nodes.Upgrade.Lines() {
		if i == 0 {
			w.Blank()
		}
		w.Line(2*min(i, 1), "%s", text)
	}
}

// row prints nodes to which the same happens.
func (w *writer) row(r nodeplan.Row) {
	for _, name := range r.Nodes {
		if name != nodeplan.Etcd && name != nodeplan.WholeCluster {
			name = "node/" + name
		}
		w.Object(0, sign(r), "%s%s", name, needsConsent(r.Allowed))
	}
	w.Line(4, "%s%s%s", actions(r), w.turns(r), because(r))
	for _, c := range r.Changes {
		w.Line(4, "%s%s", c, remark(r, c))
	}
}

func needsConsent(allowed bool) string {
	if allowed {
		return ""
	}
	return "  (needs consent)"
}

func sign(r nodeplan.Row) string {
	switch {
	case r.Removed():
		return "-"
	case r.Made(), r.Does(nodeplan.Bootstrap):
		return "+"
	}
	return "~"
}

// words of the actions; those without one come with others.
var words = map[nodeplan.Action]string{
	nodeplan.Configure: "configure", nodeplan.Stage: "configure", nodeplan.Join: "join etcd", nodeplan.Bootstrap: "bootstrap",
	nodeplan.Record: "record that it serves", nodeplan.Drain: "drain", nodeplan.Reboot: "reboot", nodeplan.Uncordon: "uncordon",
	nodeplan.Snapshot: "save etcd", nodeplan.TransferLeadership: "transfer etcd leadership", nodeplan.Leave: "leave etcd",
	nodeplan.RemoveMember: "remove from etcd", nodeplan.DeleteNode: "remove from Kubernetes", nodeplan.Reset: "reset",
	nodeplan.RewriteSecrets: "write all Secrets again",
}

func actions(r nodeplan.Row) string {
	var texts []string
	for _, a := range r.Actions {
		if words[a] != "" {
			texts = append(texts, words[a])
		}
	}
	if r.Does(nodeplan.Stage) && !r.Does(nodeplan.Reboot) {
		texts = append(texts, "with effect after the next reboot")
	}
	if !r.Made() && !r.Disturbs() && r.Does(nodeplan.Configure) {
		texts = append(texts, "without a reboot")
	}
	return strings.Join(texts, ", ")
}

// turns says how many of several nodes go at once, if that is not all.
func (w *writer) turns(r nodeplan.Row) string {
	if len(r.Nodes) < 2 || !r.Disturbs() {
		return ""
	}
	if r.Role == nodeplan.ControlPlane || w.AtOnce < 2 {
		return "; one node at a time"
	}
	return fmt.Sprintf("; at most %d nodes at once", w.AtOnce)
}

func because(r nodeplan.Row) string {
	if len(r.Reasons) == 0 {
		return ""
	}
	return "  (" + strings.Join(r.Reasons, ", ") + ")"
}

// remark says what a change needs, if that is more than to send it.
func remark(r nodeplan.Row, c nodeconfig.Change) string {
	var text string
	switch {
	case c.Class == nodeconfig.Reboot && r.Does(nodeplan.Reboot):
		text = "forces the reboot"
	case c.Class == nodeconfig.Reboot:
		text = "takes effect after a reboot"
	}
	switch {
	case text == "" && c.Reason == "":
		return ""
	case text == "":
		return "  (" + c.Reason + ")"
	case c.Reason == "":
		return "  (" + text + ")"
	}
	return "  (" + text + ": " + c.Reason + ")"
}
