package upgrade

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/sorting"
)

// returner knows how nodes go back to the Talos that they ran before: one at a time,
// workers first, the leader of etcd last.
type returner struct{ *fleet }

// next is what is done now. What an upgrade has begun at other nodes is finished first.
func (f returner) next() (d Decision) {
	d.Phase = "rollback"
	targets := f.targets()
	d.Stop = f.refusals(targets)
	if missing := f.missing(targets); len(d.Stop) == 0 {
		d.Stop = missing
	}
	for _, n := range f.flying() {
		m := f.saving(n, f.advance(n, targets, len(d.Stop) > 0), nil)
		d.add(n, m)
	}
	if len(d.Stop) == 0 && len(f.flying()) == 0 && len(targets) > 0 {
		n := targets[0]
		d.add(n, f.start(n, targets))
	}
	d.Done = len(d.Stop)+len(d.Steps)+len(d.Wait) == 0
	if len(d.Steps) > 0 {
		d.Wait = nil
	}
	return d
}

// targets are the nodes that are to go back and did not yet: those that are named, and
// else those with the system that Git has. If Git has the one of before again, they are
// those that came from it.
func (f returner) targets() (nodes []pair) {
	all := slices.Concat(f.of(workers), f.of(controlPlanes))
	returned := slices.ContainsFunc(all, func(n pair) bool {
		return n.Before != nil && n.isWanted(n.Before.From) && (n.returns() || n.cameBack() && (n.Before.Back || n.Mark != nil && n.Mark.Phase == Returning))
	})
	for _, n := range all {
		of := n.isWanted(n.runsNow()) || n.unseen() && Same(n.Talos, n.want.Talos)
		if returned {
			of = (n.returns() || n.unseen() && n.Before != nil) && n.isWanted(n.Before.From)
		}
		if len(f.policy.Nodes) > 0 {
			of = slices.Contains(f.policy.Nodes, n.Name)
		}
		if of && !n.cameBack() && !(n.unseen() && n.Before != nil && n.Before.Back) && (n.Mark == nil || n.returns()) {
			nodes = append(nodes, n)
		}
	}
	// The others do not wait for one that may not come back.
	sorting.By(nodes, func(a, b pair) int { return cmp.Compare(a.silent(), b.silent()) })
	return nodes
}

func (n pair) silent() int {
	if n.Reached {
		return 0
	}
	return 1
}

// unseen reports whether the node has not answered, and so its schematic is not known: it
// may be one that is to go back.
func (n pair) unseen() bool { return !n.Reached && n.Schematic == "" }

// runsNow is the system that the node runs.
func (n pair) runsNow() System { return System{n.Talos, n.Schematic} }

// isWanted reports whether Git has a system for the node.
func (n pair) isWanted(s System) bool {
	return Same(s.Version, n.want.Talos) && (n.want.Schematic == "" || s.Schematic == n.want.Schematic)
}

// advance is what a node in flight needs next: to go back, or the end of what else was
// begun with it.
func (f returner) advance(n pair, targets []pair, refused bool) move {
	target := slices.ContainsFunc(targets, func(t pair) bool { return t.Name == n.Name })
	concerned := f.policy.concerns(n.Name)
	switch {
	case !n.Reached || n.Busy || n.Mark != nil && n.Mark.Phase == Returning:
	case target && !refused:
		return f.start(n, targets)
	case n.Mark != nil && concerned && !n.sameBoot() && n.cameBack() && n.Stage == StageRunning: // by itself
		return do(Step{Action: Confirm, Node: n.Name, Before: n.Before.gone()})
	}
	return mover(f).advance(n, nil)
}

// gone is the note of a node that went back.
func (b Before) gone() *Before { b.Back = true; return &b }

// start begins with a node, or goes on with one that is drained. Nothing else may be
// wrong with the cluster; with the node itself there may.
func (f returner) start(n pair, targets []pair) move {
	var wrong []string
	for _, bad := range checker(f).unwell() {
		if worker := slices.ContainsFunc(targets, func(t pair) bool { return t.Name == bad.Node && t.Role != ControlPlane }); bad.Node != n.Name && !worker {
			wrong = append(wrong, bad.line())
		}
	}
	if len(wrong) > 0 {
		return patience("%s", strings.Join(wrong, "; "))
	}
	switch {
	case !n.Reached:
		return patience("it is not reached, and so cannot be told to go back").and("", "choose the other entry of its bootloader at its console")
	case slices.Contains([]string{"rebooting", "upgrading", "resetting", "shuttingDown"}, n.Stage):
		return patience("it is about to boot: its stage is %q", n.Stage)
	case slices.ContainsFunc(targets, func(t pair) bool { return t.Role == ControlPlane }) && len(f.seen.Saved) == 0 && !slices.Contains(f.policy.Allow, RiskNoSnapshot):
		return do(Step{Action: Snapshot, Node: etcdName, Hop: n.Before.hop()})
	case n.Ready && !n.closed(): // of one that is not ready no pod leaves
		return do(Step{Action: Drain, Node: n.Name, Hop: n.Before.hop(), Risks: f.dangers(n)})
	}
	return f.rollback(n, 1)
}

// rollback is the step that lets the node boot its other system.
func (f *fleet) rollback(n pair, try int) move {
	return mover{f}.stopping(n, Step{Action: Rollback, Node: n.Name, Version: n.Before.From.Version, Schematic: n.Before.From.Schematic, Try: try,
		Evict: n.Ready && !n.Drained, Hop: n.Before.hop(), Risks: f.dangers(n)})
}

// hop is what the way back is called.
func (b Before) hop() string { return "back to talos v" + b.From.Version }

// dangers are the risks of going back.
func (f *fleet) dangers(n pair) (ids []string) {
	if n.Role == ControlPlane && f.seen.voters() == 1 {
		ids = append(ids, RiskSingle)
	}
	if n.Role == ControlPlane && f.seen.voters() == 2 {
		ids = append(ids, RiskTwo)
	}
	if n.Ready {
		ids = append(ids, f.ends(n)...)
	}
	return ids
}

// missing is the consent that the next node lacks.
func (f returner) missing(targets []pair) (notes []Note) {
	for _, n := range targets {
		if ids := f.policy.missing(f.dangers(n)); len(ids) > 0 {
			return []Note{consent(n, ids)}
		}
	}
	return nil
}

// wayBack is a node that was told to go back. Whether the call came through is not known
// in the same boot: a second one would undo it, and any boot tells.
func (f mover) wayBack(n pair) move {
	m, to := n.Mark, System{n.Mark.Version, n.Mark.Schematic}
	known := n.Before != nil && n.at(n.Before.To)
	switch {
	case n.sameBoot() && n.Stage != StageRunning && n.Stage != StageBooting:
		return patience("it is about to boot: its stage is %q", n.Stage)
	case n.sameBoot():
		return f.stopping(n, n.step(Boot))
	case n.at(to):
		return f.isBack(n)
	case known && m.Try < tries && !n.closed() && n.Ready:
		return f.drain(n)
	case known && m.Try < tries:
		return f.rollback(n, m.Try+1)
	case n.retried(f.fleet):
		return do(n.step(Forget))
	}
	return f.giveUp(n, fmt.Sprintf("it was to go back to Talos v%s, and boots v%s", m.Version, cmp.Or(bare(n.Talos), "nothing")))
}

// isBack is a node that runs what it ran before.
func (f mover) isBack(n pair) move {
	member, found := f.seen.member(n.Name)
	switch {
	case !n.healthy():
		return patience("it runs v%s and is not ready: its stage is %q", bare(n.Talos), n.Stage)
	case n.Role == ControlPlane && (!found || member.Learner || !member.Healthy):
		return patience("its member of etcd does not vote yet")
	}
	s := n.step(Confirm)
	if n.Before != nil {
		s.Before = n.Before.gone()
	}
	return do(s)
}

// older are the nodes that went back, and run an older Talos than Git has.
func (f returner) older() (notes []Note) {
	for _, n := range f.pairs {
		if n.Before != nil && n.Before.Back && n.cameBack() && !n.isWanted(n.runsNow()) {
			notes = append(notes, Note{Node: n.Name, Text: fmt.Sprintf("it keeps Talos v%s, and Git has %s", bare(n.Talos), n.want.Talos),
				Hint: "set talos.version back in Git; or upgrade it once more: --retry " + n.Name})
		}
	}
	return notes
}
