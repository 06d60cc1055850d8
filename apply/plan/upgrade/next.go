package upgrade

import (
	"fmt"
	"slices"
	"strings"
)

// Decision is what an upgrade does now.
type Decision struct {
	// Steps may be taken at once: each is about another node.
	Steps []Step
	// Wait is what it waits for, if there is no step.
	Wait []Note
	// Stop is why nothing new begins. Steps finish what was begun.
	Stop []Note
	// Phase is what is being done, as "talos v1.14.1".
	Phase string
	// Done says that there is nothing left to do, but for what the policy leaves.
	Done bool
}

// Next returns what may be done now: it is asked again after each step.
func Next(want Desired, seen Observed, policy Policy) Decision {
	f := newFleet(want, &seen, policy)
	if policy.Rollback {
		return returner{f}.next()
	}
	phases, err := order{f}.phases()
	p := f.current(phases)
	d := f.flight(p)
	if err != nil {
		d.Stop = append(d.Stop, noPath(err)...)
	}
	if p != nil {
		d.Phase = p.name()
	}
	switch {
	case len(d.Stop) > 0:
	case p == nil:
		d.Done = len(d.Steps)+len(d.Wait) == 0
	default:
		f.begin(&d, *p)
	}
	if len(d.Steps) > 0 {
		d.Wait = nil
	}
	return d
}

// current is the first phase that has something to do; nil if none has.
func (f *fleet) current(phases []phase) *phase {
	for _, p := range phases {
		if p.manifests && f.seen.Manifests != "" && older(f.seen.Manifests, p.kubernetes) {
			return &p
		}
		if slices.ContainsFunc(f.pairs, p.due) {
			return &p
		}
	}
	return nil
}

// flight is what nodes need that a run has begun with.
func (f *fleet) flight(p *phase) (d Decision) {
	for _, n := range f.flying() {
		d.add(n, f.saving(n, mover{f}.advance(n, p), p))
	}
	return d
}

// add is what a node needs.
func (d *Decision) add(n pair, m move) {
	if m.step != nil {
		d.Steps = append(d.Steps, *m.step)
	}
	if m.wait != "" {
		d.Wait = append(d.Wait, Note{Node: n.Name, Text: m.wait, Hint: m.hint})
	}
	if m.stop != "" {
		d.Stop = append(d.Stop, Note{Node: n.Name, Text: m.stop, Hint: m.hint, Retry: m.again})
	}
}

// saving puts a snapshot before a move that disturbs a control plane node, also one that
// an earlier run has begun with: its own snapshot may be old.
func (f *fleet) saving(n pair, m move, p *phase) move {
	if n.Role != ControlPlane || m.step == nil || !slices.Contains([]Action{Drain, Install, Rollback, Transfer, Boot}, m.step.Action) ||
		len(f.seen.Saved) > 0 || slices.Contains(f.policy.Allow, RiskNoSnapshot) {
		return m
	}
	hop := "what was begun"
	if p != nil {
		hop = p.name()
	}
	return do(Step{Action: Snapshot, Node: etcdName, Hop: hop})
}

// begin adds what a phase begins with now, unless something speaks against it.
func (f *fleet) begin(d *Decision, p phase) {
	if f.occupied(p) {
		return
	}
	if d.Stop = (refuser{f}).refusals(p); len(d.Stop) > 0 {
		return
	}
	if bad := (checker{f}).unwell(); len(bad) > 0 {
		d.Wait = append(d.Wait, bad...)
		return
	}
	if p.manifests {
		d.Steps = append(d.Steps, Step{Action: Manifests, Node: cluster, Version: p.kubernetes, Hop: p.name()})
		return
	}
	chosen, wait := f.choose(p)
	d.Wait = append(d.Wait, wait...)
	for _, n := range chosen {
		if missing := f.policy.missing(f.risks(n, p)); len(missing) > 0 {
			d.Stop = append(d.Stop, consent(n, missing, f.removed(p)...))
			return
		}
	}
	if first := f.prepare(p); len(chosen) > 0 && len(first) > 0 {
		d.Steps = append(d.Steps, first...)
		return
	}
	for _, n := range chosen {
		m := f.start(n, p)
		if m.step != nil {
			d.Steps = append(d.Steps, *m.step)
		} else {
			d.Wait = append(d.Wait, Note{Node: n.Name, Text: m.wait})
		}
	}
	if len(d.Steps)+len(d.Wait) == 0 {
		d.Done = true // what is left is not for this policy
	}
}

// cluster is the node of steps that are about all of them, etcdName of those about
// etcd.
const (
	cluster  = "cluster"
	etcdName = "etcd"
)

// consent says what a node needs agreement to, and what clients use that ends.
func consent(n pair, missing []string, uses ...Removed) Note {
	texts := make([]string, 0, len(missing))
	for _, id := range missing {
		text := meaning(id)
		if id == RiskContract {
			text += ": " + strings.Join(n.Moves, ", ")
		}
		if id == RiskRemoved {
			text += ": " + strings.Join(clients(uses), "; ")
		}
		texts = append(texts, text)
	}
	return Note{ID: missing[0], Risks: missing, Node: n.Name, Text: strings.Join(texts, "; "), Hint: fmt.Sprintf("to agree: --allow %s", strings.Join(missing, " --allow "))}
}

// occupied reports whether nodes are in flight beside which a phase must not begin
// with others: control planes, or nodes of another group.
func (f *fleet) occupied(p phase) bool {
	return slices.ContainsFunc(f.flying(), func(n pair) bool {
		return p.group == controlPlanes || groupOf(n.Node) != p.group
	})
}

// prepare is what comes before a phase disturbs anything: images where they are
// needed, and a snapshot before control planes.
func (f *fleet) prepare(p phase) (steps []Step) {
	for _, n := range f.pairs {
		for _, i := range p.images(n) {
			if n.Reached && !n.inFlight() && !slices.Contains(n.Images, i.name) {
				steps = append(steps, Step{Action: Pull, Node: n.Name, Image: i.name, Component: i.program, Hop: p.name()})
				break // one after the other
			}
		}
	}
	if len(steps) > 0 || p.group != controlPlanes || f.saved(p) {
		return steps
	}
	return []Step{snapshot(p)}
}

// saved reports whether this run has a snapshot for the hop, or none is wanted.
func (f *fleet) saved(p phase) bool {
	return slices.Contains(f.seen.Saved, p.name()) || slices.Contains(f.policy.Allow, RiskNoSnapshot)
}

func snapshot(p phase) Step { return Step{Action: Snapshot, Node: etcdName, Hop: p.name()} }

// start is the first step of a phase at a node. One that somebody else has cordoned is
// not drained as a step: nothing would tell that it was.
func (f *fleet) start(n pair, p phase) move {
	switch {
	case p.contract:
		return do(Step{Action: Contract, Node: n.Name, Version: n.want.Contract, Hop: p.name(), Risks: f.risks(n, p)})
	case p.recycle && n.Cordoned:
		return do(f.discard(n, p))
	case p.drains(n) && !n.Cordoned:
		return do(Step{Action: Drain, Node: n.Name, Hop: p.name(), Risks: f.risks(n, p)})
	case p.dueTalos(n):
		return mover{f}.install(n, p)
	}
	return do(f.configure(n, p))
}
