package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/etcdsafety"
)

// move is what a node that a run has begun with needs next: a step, or patience, or
// an end.
type move struct {
	step *Step
	wait string
	stop string
	hint string
	// again says that the node is tried again if somebody asks for it.
	again bool
}

func (m move) and(stop, hint string) move { m.stop, m.hint = stop, hint; return m }

// failed ends the upgrade at a node, which is tried again if somebody asks for it.
func (m move) failed(n pair, stop, hint string) move {
	m = m.and(stop, hint+": --retry "+n.Name)
	m.again = true
	return m
}

func do(s Step) move                           { return move{step: &s} }
func patience(format string, args ...any) move { return move{wait: fmt.Sprintf(format, args...)} }
func (n pair) step(a Action) Step              { return Step{Action: a, Node: n.Name} }
func (n pair) retried(f *fleet) bool {
	return slices.Contains(f.policy.Retry, n.Name) && n.Mark.Run != f.seen.Run
}
func (n pair) sameBoot() bool { return n.Mark.Boot == n.Boot }
func (n pair) runs(version, schematic string) bool {
	return Same(n.Talos, version) && (schematic == "" || n.Schematic == schematic)
}

// tries is how often an installation is begun whose outcome nobody saw. Each is in a
// boot of its own.
const tries = 2

// mover knows what a node in flight needs next.
type mover struct{ *fleet }

// advance says what a node in flight needs next. The phase is the current one; nil if
// there is none.
func (f mover) advance(n pair, p *phase) move {
	switch {
	case n.Mark != nil && n.Mark.Phase == Deleting:
		return do(f.deleted(n)) // it may be gone
	case !n.Reached && (n.Mark != nil || !n.known()):
		return patience("it is not reached")
	case n.Mark == nil:
		return f.drained(n, p)
	case n.Busy:
		return patience("its installer runs")
	case n.Mark.Phase == Returning:
		return f.wayBack(n)
	case n.sameBoot():
		return f.marked(n)
	case n.runs(n.Mark.Version, ""):
		return f.arrived(n)
	}
	return f.old(n)
}

// drained is a node without a mark that a run has cordoned.
func (f mover) drained(n pair, p *phase) move {
	due := p != nil && p.due(n) && (p.dueTalos(n) || p.dueKubelet(n)) && f.policy.concerns(n.Name) && len(f.policy.missing(f.risks(n, *p))) == 0 && !f.spared(n, *p)
	switch {
	case due && p.recycle:
		return do(f.discard(n, *p))
	case !n.healthy() && !n.recycled && !(due && n.Stage == StageRunning):
		return patience("it is not ready: its stage is %q", n.Stage)
	case due && n.Role == ControlPlane && !f.saved(*p):
		return do(snapshot(*p))
	case due && p.dueTalos(n):
		return f.install(n, *p)
	case due && p.dueKubelet(n):
		if lowest, _ := servers(f.seen.Nodes); older(lowest, p.kubernetes) {
			return patience("an API server still runs %s", lowest)
		}
		return do(f.configure(n, *p))
	}
	return do(n.step(Uncordon))
}

// install gets the image and begins the first installation of this boot.
func (f mover) install(n pair, p phase) move {
	image := n.image(p.talos)
	if !slices.Contains(n.Images, image) {
		return do(Step{Action: Pull, Node: n.Name, Image: image, Hop: p.name()})
	}
	return f.installed(n, Step{Action: Install, Node: n.Name, Version: strings.TrimPrefix(p.talos, "v"), Image: image,
		Schematic: n.want.Schematic, Try: 1, Evict: !n.Drained, Legacy: n.legacy(), Before: n.leaves(p.talos, n.want.Schematic), Hop: p.name(), Risks: f.risks(n, p)})
}

// installed lets an installation begin, after its quorum if it reboots.
func (f mover) installed(n pair, s Step) move {
	if s.Legacy {
		return f.stopping(n, s)
	}
	return do(s)
}

// marked is a node in whose boot an installation was begun. There is no second one
// in it: that could overwrite the only system that boots.
func (f mover) marked(n pair) move {
	failed := n.Mark.Phase == Failed
	switch {
	case failed && n.retried(f.fleet) && !n.closed():
		return f.drain(n)
	case failed && !n.retried(f.fleet):
		return f.giveUp(n, fmt.Sprintf("the installer of Talos v%s failed", n.Mark.Version))
	case n.Stage != StageRunning:
		return patience("it is about to boot: its stage is %q", n.Stage)
	}
	return f.stopping(n, n.step(Boot))
}

// stopping is a step that stops the node: etcd goes on without it, led by another
// member.
func (f mover) stopping(n pair, s Step) move {
	if n.Role != ControlPlane {
		return do(s)
	}
	if reason := etcdsafety.CanStop(f.seen.safe(), n.Name); reason != "" || !f.seen.Known {
		return patience("etcd cannot do without it: %s", reason)
	}
	if f.leads(n.Name) > 0 && f.seen.voters() > 1 {
		return do(n.step(Transfer))
	}
	return do(s)
}

// arrived is a node that has booted what was installed.
func (f mover) arrived(n pair) move {
	if lost := n.lost(); lost != "" {
		if n.retried(f.fleet) {
			return do(n.step(Forget))
		}
		return move{}.failed(n, lost, "it stays cordoned: correct the image in Git, then try it again")
	}
	if !n.healthy() {
		return patience("it runs v%s and is not ready: its stage is %q", bare(n.Talos), n.Stage).
			and("", "to go back: talosgen upgrade with --rollback --node "+n.Name)
	}
	if m, found := f.seen.member(n.Name); n.Role == ControlPlane && (!found || m.Learner || !m.Healthy) {
		return patience("its member of etcd does not vote yet")
	}
	return do(n.step(Confirm))
}

// lost says what the new system lacks; empty if nothing. An image of the right schematic
// has its extensions, some of which run under another name than the schematic has.
func (n pair) lost() string {
	switch n.Mark.Schematic {
	case "":
	case n.Schematic:
		return ""
	default:
		return fmt.Sprintf("it runs Talos v%s of another image: schematic %s, expected %s", n.Mark.Version, n.Schematic, n.Mark.Schematic)
	}
	for _, e := range n.want.Extensions {
		if !slices.Contains(n.Extensions, e) && n.want.Schematic == "" {
			return fmt.Sprintf("it runs Talos v%s without the extension %s", n.Mark.Version, e)
		}
	}
	return ""
}

// old is a node that has booted again, and not what was to be installed.
func (f mover) old(n pair) move {
	m := n.Mark
	switch {
	case n.Stage != StageRunning:
		return patience("it boots: its stage is %q", n.Stage)
	case m.Phase == Installing && m.Try < tries:
		return f.again(n)
	case n.retried(f.fleet):
		return do(n.step(Forget))
	case m.Phase == Failed:
		return f.giveUp(n, fmt.Sprintf("the installer of Talos v%s failed", m.Version))
	}
	return f.giveUp(n, fmt.Sprintf("Talos went back to v%s: v%s did not start", strings.TrimPrefix(n.Talos, "v"), m.Version))
}

// again is the second try of an installation of which nobody knows why it is not
// there.
func (f mover) again(n pair) move {
	image := n.image(n.Mark.Version)
	if !n.closed() {
		return f.drain(n)
	}
	if !slices.Contains(n.Images, image) {
		return do(Step{Action: Pull, Node: n.Name, Image: image})
	}
	return f.installed(n, Step{Action: Install, Node: n.Name, Version: n.Mark.Version, Image: image,
		Schematic: n.Mark.Schematic, Try: n.Mark.Try + 1, Evict: !n.Drained, Legacy: n.legacy(), Before: n.leaves(n.Mark.Version, n.Mark.Schematic), Risks: f.ends(n)})
}

// drain drains a node once more, which is open to pods by now.
func (f mover) drain(n pair) move {
	s := n.step(Drain)
	if s.Risks = f.ends(n); len(f.policy.missing(s.Risks)) > 0 {
		note := consent(n, f.policy.missing(s.Risks))
		return move{}.and(note.Text, note.Hint)
	}
	return do(s)
}

// giveUp ends the upgrade, and leaves the node schedulable.
func (f mover) giveUp(n pair, why string) move {
	m := move{}
	if n.Drained {
		m = do(n.step(Uncordon))
	}
	return m.failed(n, why, "see its console, then try it again")
}

// image is the installer of a version.
func (n pair) image(version string) string {
	return n.want.Installer + ":v" + strings.TrimPrefix(version, "v")
}
