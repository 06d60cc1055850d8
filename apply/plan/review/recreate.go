package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/recreate"
	"github.com/talosgen/talosgen/internal/natural"
)

// recreates reports whether a change makes the server of a node anew, in its turn.
func (r Review) recreates(c cloudplan.Change) bool {
	return r.Recreate != nil && slices.ContainsFunc(r.Recreate.Due(), func(n recreate.Node) bool {
		return c.Key == cloudplan.KeyOf(cloudplan.KindServer, n.Name) && c.Action == cloudplan.Replace
	})
}

// recreate prints the nodes that are made anew, one after the other, each with what
// happens to it in its order.
func (w *writer) recreate() {
	due := w.Recreate.Due()
	if len(due) == 0 {
		return
	}
	w.Blank()
	w.Line(0, "%s, then recreated%s: %s", w.Cluster, oneAtATime(len(due), 1), natural.Count(len(due), "node"))
	w.Blank()
	for _, n := range due {
		w.Object(0, "±", "node/%s  (destructive)", n.Name)
		for _, reason := range n.Reasons {
			w.Line(4, "%s", reason)
		}
		if steps := leaving(n); steps != "" {
			w.Line(4, "%s", steps)
		}
		for i := range w.Cloud.Changes {
			if c := w.Cloud.Changes[i]; w.recreates(c) && c.Name == n.Name {
				w.Line(4, "delete its server, %s", made(c))
			}
		}
		w.Line(4, "%s", joining(n, w.Cloud == nil || len(w.Cloud.Desired.Servers) == 0))
		for _, v := range n.Volumes {
			w.Line(4, "%s", v)
		}
	}
	for _, name := range w.Recreate.Surge {
		w.Object(0, "-", "node/%s  (destructive)", name)
		w.Line(4, "it stands in for these nodes while they are recreated; then drain, remove from Kubernetes, delete its server")
	}
}

// leaving is how a node leaves the cluster, in words.
func leaving(n recreate.Node) string {
	var texts []string
	for _, s := range n.Steps {
		if words[s.Action] != "" {
			texts = append(texts, words[s.Action])
		}
	}
	return strings.Join(texts, ", ")
}

// made says what a new server is.
func made(c cloudplan.Change) string {
	if len(c.Candidates) == 0 {
		return "make another"
	}
	text := fmt.Sprintf("make a %s in %s", c.Candidates[0].Type, c.Candidates[0].Location)
	if len(c.Candidates) > 1 {
		text += fmt.Sprintf(", or one of %s", natural.Count(len(c.Candidates)-1, "alternative"))
	}
	return text
}

// joining says how the new machine of a node becomes a part of the cluster. Machines
// that were there before start again without what they had.
func joining(n recreate.Node, machine bool) string {
	text := "configure"
	if machine {
		text = "wait for its machine, configure"
	}
	if n.Role == nodeplan.ControlPlane {
		text += ", join etcd"
	}
	return text + ", wait until it is healthy"
}

// disturbedAnew says what operators and their users notice of nodes that are made anew.
func (w *writer) disturbedAnew() (texts []string) {
	count := map[string]int{}
	for _, n := range w.Recreate.Due() {
		count[n.Role]++
	}
	if n := count[nodeplan.ControlPlane]; n > 0 {
		texts = append(texts, natural.Count(n, "control plane node")+verb(n, " is", " are")+" recreated"+oneAtATime(n, 1)+": "+without(w.Nodes.Voters))
	}
	if n := count[nodeplan.Worker]; n > 0 {
		texts = append(texts, natural.Count(n, "worker")+verb(n, " is", " are")+" recreated"+oneAtATime(n, 1)+
			": pods move to other nodes before, and what is on local disks is lost")
	}
	return texts
}

// without says what it means that a member leaves etcd, and another joins.
func without(voters int) string {
	if voters < 2 {
		return "whether etcd goes on is not known"
	}
	left := voters - 1
	if left < 3 {
		return fmt.Sprintf("etcd has %s meanwhile, and does not survive the loss of one", natural.Count(left, "member"))
	}
	return fmt.Sprintf("etcd has %d members meanwhile, and survives the loss of %d", left, (left-1)/2)
}

// waiting are the nodes that wait for consent to be made anew.
func (r Review) waiting() []plan.Note {
	if r.Recreate == nil && r.Cloud != nil {
		return r.Cloud.Waiting()
	}
	return r.Recreate.Waiting()
}
