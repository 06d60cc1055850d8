package review

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/recreate"
	"github.com/talosgen/talosgen/schemas"
)

// Review is the plan of all stages. Sections that were not planned are nil.
type Review struct {
	Cluster    string
	Cloud      *cloudplan.Plan
	Nodes      *nodeplan.Plan
	Kubernetes *kubeplan.Plan
	// The nodes that are made anew; nil: nothing forces that.
	Recreate *recreate.Plan
	// The changes of the infrastructure that are made when the nodes are done: servers
	// of nodes that have left.
	Last func(cloudplan.Change) bool
	// How many workers may be unavailable at once.
	AtOnce int
}

// String prints the plan for operators. It is the same for equal plans, to the byte,
// and holds no secrets.
func (r Review) String() string {
	w := r.written()
	if r.counts() {
		w.Blank()
		w.Line(0, "%s", r.Counts().Line())
	}
	return strings.TrimPrefix(w.Printer.String(), "\n") // parts are apart by one empty line
}

// Lines are those of the plan but for the last one, which counts; counted is false if
// there is nothing to count.
func (r Review) Lines() (lines []plan.Line, counted bool) {
	return r.written().Printer.Lines(), r.counts()
}

// counts reports whether the plan ends with how much there is to do.
func (r Review) counts() bool { return !r.empty() || r.Counts().Refused+r.Counts().RecreateWaiting > 0 }

// written is all of the plan but for its last line.
func (r Review) written() *writer {
	w := &writer{r, &plan.Printer{}}
	w.project()
	if r.empty() {
		w.Line(0, "%s: %s", r.Cluster, plan.Summary("nothing to do", r.Counts().Refused))
	}
	w.cloud("", func(c cloudplan.Change) bool { return !r.last(c) && !r.recreates(c) })
	w.nodes("", func(node string) bool { return !r.late(node) })
	w.cloud(", when these nodes have left", func(c cloudplan.Change) bool { return r.last(c) && !r.recreates(c) })
	w.nodes(", after that", r.late)
	w.recreate()
	w.kubernetes()
	w.held()
	w.disturbs()
	w.notes()
	if r.counts() && r.costs() {
		r.Cloud.Cost.Write(w.Printer)
	}
	return w
}

func (r Review) empty() bool {
	return (r.Cloud == nil || len(r.Cloud.Changes) == 0) && (r.Nodes == nil || len(r.Nodes.Steps) == 0) && len(r.Recreate.Due()) == 0 &&
		(r.Kubernetes == nil || r.Kubernetes.ToDo() == "")
}

// costs reports whether the price of a month changes, or may: by what the autoscaler is
// allowed to make.
func (r Review) costs() bool {
	changed := r.Kubernetes != nil && r.Kubernetes.ToDo() != ""
	return r.Cloud != nil && (r.Cloud.Cost.Changes() || changed && r.Cloud.Cost.Most != (cloudplan.Price{}))
}

// last reports whether a change is made when the nodes are done.
func (r Review) last(c cloudplan.Change) bool { return r.Nodes != nil && r.Last != nil && r.Last(c) }

// node reports whether a change is about the server of a node.
func (r Review) node(c *cloudplan.Change) bool {
	if c.Kind != cloudplan.KindServer {
		return false
	}
	isNode := func(role string) bool { return role == schemas.RoleControlPlane || role == schemas.RoleWorker }
	return slices.ContainsFunc(r.Cloud.Desired.Servers, func(s schemas.InfraServer) bool { return s.Name == c.Name && s.Role != schemas.RoleNATGateway }) ||
		slices.ContainsFunc(r.Cloud.Observed.Servers, func(s cloudplan.Server) bool { return s.ID == c.ID && isNode(schemas.RoleOf(s.Labels)) })
}

// writer prints a review.
type writer struct {
	Review
	*plan.Printer
}

// cloud prints the changes at Hetzner Cloud that are made at one time.
func (w *writer) cloud(when string, of func(cloudplan.Change) bool) {
	if w.Cloud == nil {
		return
	}
	some := *w.Cloud
	some.Changes, some.Refusals = slices.DeleteFunc(slices.Clone(some.Changes), func(c cloudplan.Change) bool { return !of(c) }), nil
	if len(some.Changes) == 0 {
		return
	}
	w.Blank()
	refused := slices.DeleteFunc(slices.Clone(some.Changes), func(c cloudplan.Change) bool { return c.Class != cloudplan.Refused })
	some.Refusals = make([]plan.Note, len(refused)) // only those that are shown here are counted
	w.Line(0, "%s%s: %s", w.Cluster, when, some.Summary())
	w.Blank()
	for _, c := range some.Changes {
		c.Write(w.Printer)
		if c.Class == cloudplan.PowerOff && w.Nodes != nil && w.node(&c) {
			w.Line(4, "its node is drained before, and must be healthy again before the next one")
		}
	}
}

// kubernetes prints what changes in Kubernetes.
func (w *writer) kubernetes() {
	if w.Kubernetes == nil || w.Kubernetes.ToDo() == "" {
		return
	}
	w.Blank()
	w.Line(0, "%s, Kubernetes: %s", w.Cluster, w.Kubernetes.ToDo())
	w.Kubernetes.WriteSteps(w.Printer)
}
