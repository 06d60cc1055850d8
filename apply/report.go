package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/natural"
)

// newReport begins the report of a run.
func newReport(e *Environment, log *runLog, agreed *Plan) *Report {
	r := &Report{Agreed: agreed, env: e.name, engine: engineOf(e), cluster: e.Infrastructure.Cluster, images: len(e.Infrastructure.Images) > 0}
	if agreed != nil && agreed.Plan != nil && !agreed.Destroy {
		r.closed, r.gateway = e.ClosedToAll(), e.Infrastructure.Access.Jump
	}
	r.took(log)
	return r
}

// took notes what the run has taken until now.
func (r *Report) took(log *runLog) {
	r.Stages = log.stages
	_, r.requestsLeft = log.hetzner()
}

// Summary sums the run up, after it ended with err.
func (r *Report) Summary(err error, c summary.Commands) summary.Summary {
	s := summary.Summary{
		Environment: r.env, Cluster: r.cluster, Outcome: r.outcome(err),
		Done: r.items(), Left: r.undone(), RequestsLeft: r.requestsLeft, Cost: r.cost(),
		Pending: []summary.Pending{}, Next: []summary.Command{},
	}
	var took time.Duration
	s.Stages, took, s.Requests = summary.Fold(r.Stages)
	s.Seconds = took.Seconds()
	r.pending(&s)
	r.next(&s, c)
	return s
}

// outcome is how it ended.
func (r *Report) outcome(err error) summary.Outcome {
	switch {
	case errors.Is(err, context.Canceled):
		return summary.Interrupted
	case r.Agreed != nil && !r.Agreed.Executable() || r.refused || r.upgrade.refused():
		return summary.Refused
	case err != nil && !r.onlyRemains():
		return summary.Failed
	case r.did():
		return summary.Done
	}
	return summary.InSync
}

// did reports whether something was done.
func (r *Report) did() bool { return len(r.Done)+len(r.Steps)+len(r.Objects)+len(r.upgrade.steps) > 0 }

// onlyRemains reports whether all that could be done is done, and the error of the
// run is about nodes that are away, or about what others have edited.
func (r *Report) onlyRemains() bool {
	return r.ended && (r.Left == nil || r.Left.Empty() && !r.Left.Refused())
}

// remains ends a run that came through all its stages.
func (r *Report) remains() error {
	r.ended = true
	return r.Left.remains()
}

// items are what the run has done.
func (r *Report) items() []summary.Item {
	all := []summary.Item{}
	all = append(all, changeItems(r.Done)...)
	all = append(all, stepItems(r.Steps)...)
	all = append(all, r.upgrade.done()...)
	return append(all, objectItems(r.Objects)...)
}

// consents are the flags that agree to what the run was refused for; none if consent
// would not help.
func (r *Report) consents() []string {
	if r.Agreed == nil {
		return r.upgrade.consents()
	}
	if r.Agreed.Refused() {
		return nil
	}
	return r.Agreed.Consents()
}

// undone is what is left to do: as it was seen last, or else as it was agreed to.
func (r *Report) undone() []summary.Item {
	var last Plan
	for _, p := range []*Plan{r.Agreed, r.Left} { // the later one counts
		if p == nil {
			continue
		}
		last.Plan, last.Nodes = cmp.Or(p.Plan, last.Plan), cmp.Or(p.Nodes, last.Nodes)
		last.Kubernetes, last.Recreate = cmp.Or(p.Kubernetes, last.Kubernetes), cmp.Or(p.Recreate, last.Recreate)
	}
	all := []summary.Item{}
	for _, s := range last.sections() {
		all = append(all, s.left(r)...)
	}
	return append(all, r.upgrade.left()...)
}

// cost is the price of a month before the run, and after what is planned; nil if
// no prices are known.
func (r *Report) cost() *summary.Cost {
	if r.Agreed == nil || r.Agreed.Plan == nil || r.Agreed.Cost.Currency == "" {
		return nil
	}
	before, after := r.Agreed.Cost, r.Agreed.Cost
	if r.Left != nil && r.Left.Plan != nil && r.Left.Cost.Currency != "" {
		after = r.Left.Cost
	}
	if len(before.Lines)+len(after.Lines) == 0 {
		return nil
	}
	return &summary.Cost{Currency: before.Currency, Before: before.Before, After: after.After}
}

// pending collects what is not as it should be, as it was seen last.
func (r *Report) pending(s *summary.Summary) {
	add := func(kind, object, text, hint string) {
		s.Pending = append(s.Pending, summary.Pending{Kind: kind, Object: object, Text: text, Hint: hint})
	}
	for _, name := range r.staged() {
		add(summary.Reboots, "node "+name, "its configuration is staged, and takes effect when it reboots", "")
	}
	if p := r.lastNodes(); p != nil {
		for _, h := range p.Unversioned() {
			add(summary.Held, "node "+h.Node, fmt.Sprintf("%s (%s)", h.Change, h.Change.Reason), "")
		}
		for _, text := range p.Upgrade.Moves() {
			add(summary.Held, "cluster", text+" waits for an upgrade", nodeplan.UpgradeHint)
		}
		for _, n := range p.Warnings {
			kind, node := summary.Reboots, strings.TrimPrefix(string(n.Key), "node/")
			if slices.Contains(p.Unreachable, node) {
				kind = summary.Unreachable
			}
			add(kind, "node "+node, n.Text, n.Hint)
		}
	}
	var last nodeplan.Plan
	if p := r.lastNodes(); p != nil {
		last = *p
	}
	r.verified.pending(last.Unreachable, last.Upgrade, add)
	if r.Left != nil && r.Left.Plan != nil {
		for _, n := range r.Left.Plan.Left {
			add(summary.Waiting, string(n.Key), n.Text, n.Hint)
		}
	}
	if r.Left != nil && r.Left.Kubernetes != nil {
		r.pendingObjects(add)
	}
	r.upgrade.pending(add)
	if r.did() {
		for _, f := range r.closed {
			add(summary.Access, "", f.Text, f.Hint)
		}
	}
}

// pendingObjects collects the objects that are not as Git has them.
func (r *Report) pendingObjects(add func(kind, object, text, hint string)) {
	for _, step := range r.Left.Kubernetes.Steps {
		switch {
		case step.Action == kubeplan.Conflict:
			add(summary.Conflict, string(step.Key), step.Reason, "")
		case step.Action == kubeplan.Blocked && step.After != "":
			add(summary.Waiting, string(step.Key), "it waits "+step.Reason, "")
		case step.Action == kubeplan.Blocked:
			add(summary.Waiting, string(step.Key), step.Reason, "run this again when that is there")
		}
	}
}

// lastNodes is the section of nodes that was made last; nil if there is none.
func (r *Report) lastNodes() *nodeplan.Plan {
	switch {
	case r.Left != nil && r.Left.Nodes != nil:
		return r.Left.Nodes
	case r.Agreed != nil:
		return r.Agreed.Nodes
	}
	return nil
}

const retryReason = "tries what failed again, once it is mended"

// staged are the nodes with a configuration that their next boot takes, and that were not
// rebooted for it.
func (r *Report) staged() (names []string) {
	waits := map[string]bool{}
	for _, s := range r.Steps {
		switch s.Action {
		case nodeplan.Stage:
			waits[s.Node] = true
		case nodeplan.Reboot:
			delete(waits, s.Node)
		}
	}
	return slices.SortedFunc(maps.Keys(waits), natural.Compare)
}

// next collects the commands that lead on from here.
func (r *Report) next(s *summary.Summary, c summary.Commands) {
	add := func(command, reason string) {
		s.Next = append(s.Next, summary.Command{Command: command, Reason: reason})
	}
	pending := func(kind string) bool {
		return slices.ContainsFunc(s.Pending, func(p summary.Pending) bool { return p.Kind == kind })
	}
	if c.Again == nil || c.Of == nil {
		return
	}
	switch s.Outcome {
	case summary.Refused:
		if consents := r.consents(); len(consents) > 0 {
			add(c.Again(consents...), "agrees to what needs consent")
		}
		if retries := r.upgrade.retries(); len(retries) > 0 {
			add(c.Again(retries...), retryReason)
		}
		return
	case summary.Failed, summary.Interrupted:
		if retries := r.upgrade.retries(); len(retries) > 0 {
			add(c.Again(retries...), retryReason)
		} else {
			add(c.Again(), "goes on where this run stopped")
		}
		return
	}
	if retries := r.upgrade.returned(); len(retries) > 0 {
		add(c.Of("upgrade", retries...), "upgrades them once more; else set talos.version back in Git")
	} else if r.upgrade.rolledBack() {
		add(c.Of("upgrade"), "brings Talos' own objects in Kubernetes back too")
	}
	switch installed, named := r.upgrade.installed(); {
	case named:
		add(c.Of("apply"), "writes the new versions into the configurations of the nodes")
	case installed && r.images:
		add(c.Of("apply"), "makes the image of the new version, for servers to come")
	}
	if len(r.staged()) > 0 {
		add(c.Of("apply"), "reboots the nodes one after the other, instead of you")
	}
	if p := r.lastNodes(); p != nil && p.Upgrade != nil && p.Upgrade.Blocked == "" {
		add(c.Of("upgrade", "--plan"), "shows how the nodes get the versions that Git has")
	}
	if pending(summary.Conflict) {
		add(c.Of("takeover", "--plan"), "says which fields talosgen could take over, to be as in Git again")
	}
	if pending(summary.Unreachable) {
		add(c.Of("health"), "says more about the nodes")
	}
	if pending(summary.Health) {
		add(c.Of("health", "--wait", "10m"), "waits until the cluster is healthy")
	}
	if pending(summary.Status) {
		add(c.Of("status"), "says how far Kubernetes and "+cmp.Or(r.engine, "Flux")+" are")
	}
	if slices.ContainsFunc(r.Steps, isBootstrap) {
		add(c.Of("kubeconfig"), "access to the new cluster, for kubectl")
		switch {
		case r.gateway != "":
			add(c.Of("access proxy"), "leads kubectl and talosctl there, through "+r.gateway)
		case len(r.closed) > 0:
			add(c.Of("access open"), "lets your address in for a while")
		}
	}
}
