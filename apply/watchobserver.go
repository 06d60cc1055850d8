package apply

import (
	"context"
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/watch"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// noteReplacing notes at the cluster which worker a watch is replacing: what it has begun
// goes on in another process too.
const noteReplacing = "replacing"

// harmless is the part of a plan of the infrastructure that disturbs nothing, without the
// changes of some objects.
func harmless(without []string) part {
	var keys []plan.Key
	for _, key := range without {
		keys = append(keys, plan.Key(key))
	}
	return func(p *cloudplan.Plan) *cloudplan.Plan { return p.Harmless().Without(keys...) }
}

// watchObserver looks at a cluster for a watch, with the plan of apply.
type watchObserver struct{ *Session }

// observe plans, and sums up what was seen.
func (s watchObserver) observe(ctx context.Context) (*Plan, watch.Observation, error) {
	p, err := s.Plan(ctx, Policy{})
	if err != nil {
		return nil, watch.Observation{}, err
	}
	l := watch.Observation{At: s.log.clock.Now(), Servers: s.project != nil, Replacing: noteLabels(p.Observed, s.env.Infrastructure.Cluster)[schemas.LabelPrefix+noteReplacing]}
	if p.Refused() {
		for _, line := range problemLines(notExecutable(p)) {
			l.Unsafe = append(l.Unsafe, "apply would refuse: "+line)
		}
	}
	if p.Nodes != nil {
		s.nodesOf(p, &l)
	}
	if l.Busy, err = s.busy(ctx); err != nil {
		return nil, l, err
	}
	safe := p.Harmless()
	for _, c := range safe.Changes {
		l.Drift = append(l.Drift, string(c.Key))
	}
	for _, key := range safe.Moves() {
		l.Moves = append(l.Moves, string(key))
	}
	l.Left = s.left(p, l)
	return p, l, nil
}

// nodesOf adds the nodes of the tree, as they were seen. Without the server of a control
// plane there is no cluster to watch over: it was never made, or the token is of another
// project.
func (s watchObserver) nodesOf(p *Plan, l *watch.Observation) {
	there := !l.Servers
	for _, name := range s.env.NodeNames() {
		n := watch.Assess(name, s.connect.inventory.server(p.Observed, name), l.Servers, s.Session.nodes.seen)
		there = there || n.ControlPlane && n.Machine != 0
		l.Nodes = append(l.Nodes, n)
	}
	if !there {
		l.Unsafe = append(l.Unsafe, "the project has no control plane of the cluster: is the token that of its project, and was the cluster applied?")
	}
}

// busy says why no node is made anew now: what is under way with nodes comes first.
func (s watchObserver) busy(ctx context.Context) (why []string, err error) {
	if s.env.keyless {
		return nil, nil // nodes are not looked at
	}
	kinds, err := rotations{s.env}.underWay(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range kinds {
		why = append(why, "the rotation of "+k.Subject()+" is under way")
	}
	for _, n := range s.Session.nodes.seen.Nodes {
		if n.Upgrading {
			why = append(why, "the upgrade of "+n.Name+" has not come to its end")
		}
	}
	return why, nil
}

// left is what is to be done, and is no business of a watch.
func (s watchObserver) left(p *Plan, l watch.Observation) (lines []string) {
	own := func(name string) bool {
		return slices.ContainsFunc(l.Nodes, func(n watch.Node) bool {
			return n.Name == name && !n.ControlPlane && (n.State == watch.Dead || n.State == watch.Bare)
		})
	}
	for _, c := range p.Changes {
		if !slices.Contains(l.Drift, string(c.Key)) && !(c.Kind == cloudplan.KindServer && own(c.Name)) {
			lines = append(lines, fmt.Sprintf("%s %s", c.Action, c.Key))
		}
	}
	if p.Nodes != nil {
		steps := map[string]bool{}
		for _, st := range p.Nodes.Steps {
			if st.Action != nodeplan.Health && !own(st.Node) && !steps[st.Node] {
				steps[st.Node] = true
				lines = append(lines, fmt.Sprintf("%s %s", st.Action, st.Node))
			}
		}
	}
	if p.Kubernetes != nil && !(kubeSection{p.Kubernetes}).empty() {
		lines = append(lines, "objects in Kubernetes")
	}
	return lines
}

// problemLines are the problems of an error, in a line each.
func problemLines(err error) (lines []string) {
	var problems diag.List
	problems.AddErr(err)
	for _, p := range problems {
		lines = append(lines, oneLine(p))
	}
	return lines
}
