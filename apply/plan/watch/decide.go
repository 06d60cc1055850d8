package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/natural"
	"github.com/talosgen/talosgen/internal/sorting"
)

// Decision is what a watch does after a look.
type Decision struct {
	// The workers that were found dead.
	Dead []string
	// Whether what has drifted is mended.
	Drift bool
	// Routes that are not led to another gateway, though the one that they lead to is ill:
	// the gateways are ill in turn.
	Held []string
	// Workers whose machines are new: they get their configuration.
	Join []string
	// The worker that gets a new machine, and the id of its server, which has to be the
	// same still when it is deleted; empty: none does. There is one at a time.
	Replace string
	Machine int64
	// What people should know, a line each.
	Notes []string
}

// Does reports whether something is done at all.
func (d Decision) Does() bool { return d.Drift || len(d.Join) > 0 || d.Replace != "" }

// Decide says what to do after a look, and what is known from then on. That a replacement
// has begun is noted by [Memory.Began].
func Decide(m Memory, l Observation, p Policy) (Decision, Memory) {
	l = m.resolved(l)
	m = m.with(l, p)
	d := decider{memory: m, now: l, policy: p}
	d.decide()
	return d.Decision, m
}

// Awaited are the workers that looks have found dead, and for which the time has not come.
// Who looks once waits for these.
func Awaited(m Memory, l Observation, p Policy) (names []string) {
	if !p.heals(Workers) || !l.Servers || len(l.Unsafe) > 0 || len(l.Busy) > 0 {
		return nil
	}
	d := decider{memory: m, now: m.resolved(l), policy: p}
	if d.fault() != "" {
		return nil
	}
	for _, n := range d.dead() {
		if due := d.due(n); l.At.Before(due) && due.Sub(l.At) <= p.DeadAfter && !d.flaps(n) {
			names = append(names, n.Name)
		}
	}
	return names
}

// decider makes a decision.
type decider struct {
	Decision

	memory Memory
	now    Observation
	policy Policy
}

func (d *decider) note(format string, args ...any) {
	d.Notes = append(d.Notes, fmt.Sprintf(format, args...))
}

func (d *decider) decide() {
	d.nodes()
	for _, n := range d.dead() {
		d.Dead = append(d.Dead, n.Name)
	}
	for _, why := range d.now.Unsafe {
		d.note("nothing is healed: %s", why)
	}
	for _, what := range d.now.Left {
		d.note("left to you: %s", what)
	}
	if len(d.now.Unsafe) > 0 {
		return
	}
	d.hold()
	d.Drift = len(d.now.Drift) > len(d.Held) && d.policy.heals(Drift)
	if len(d.now.Drift) > len(d.Held) && !d.Drift {
		d.note("drift is not healed: %s", strings.Join(d.now.Drift, ", "))
	}
	d.workers()
}

// hold holds routes that were led to another gateway too often.
func (d *decider) hold() {
	for _, route := range d.now.Moves {
		if d.memory.moves(route) >= MostMoves {
			d.Held = append(d.Held, route)
			d.note("%s stays as it is: it was led to another gateway %d times within %s, so both of them flap", route, MostMoves, MovesPer)
		}
	}
}

// nodes tells of those that are not as they should be.
func (d *decider) nodes() {
	for _, n := range d.now.Nodes {
		switch n.State {
		case Alive, Missing: // that it is to be made is what apply says
		case Dead:
			d.note("%s is dead since %s: %s", n.Name, clock(d.memory.DeadSince(n.Name)), n.Why)
		default:
			d.note("%s is %s: %s", n.Name, n.State, n.Why)
		}
	}
}

// workers decides about machines of workers.
func (d *decider) workers() {
	dead := d.dead()
	var bare []string
	for _, n := range d.now.Nodes {
		if n.State == Bare && !n.ControlPlane {
			bare = append(bare, n.Name)
		}
	}
	if len(dead)+len(bare) == 0 {
		return
	}
	why := d.fault()
	switch {
	case !d.policy.heals(Workers):
		why = "workers are not among what is healed"
	case !d.now.Servers:
		why = "machines that exist already are not created again"
	case len(d.now.Busy) > 0:
		why = strings.Join(d.now.Busy, "; ")
	}
	if why != "" {
		d.note("no worker is replaced: %s", why)
		return
	}
	if d.Join = bare; len(bare) > 0 {
		return // a replacement at a time, to its end
	}
	for _, n := range dead {
		if d.Replace == "" && d.ripe(n) {
			d.Replace, d.Machine = n.Name, n.Machine
		}
	}
}

// dead are the dead workers, those first that are dead for longest.
func (d *decider) dead() (dead []Node) {
	for _, n := range d.now.Nodes {
		if n.State == Dead && !n.ControlPlane {
			dead = append(dead, n)
		}
	}
	sorting.By(dead, func(a, b Node) int {
		return d.memory.DeadSince(a.Name).Compare(d.memory.DeadSince(b.Name))
	})
	return dead
}

// fault says why it is more likely something else that is at fault than the machines that
// do not answer; empty: it is they.
func (d *decider) fault() string {
	workers, away := 0, 0
	for _, n := range d.now.Nodes {
		answers := n.State == Alive || n.State == Bare
		switch {
		case n.State == Missing && !n.ControlPlane:
		case n.ControlPlane && !answers:
			return "the control plane node " + n.Name + " is " + string(n.State) + ", and comes first"
		case n.ControlPlane:
		default:
			workers++
			if !answers {
				away++
			}
		}
	}
	if away > 1 && 3*away > workers {
		return fmt.Sprintf("%d of %s do not answer at once: the network, or an API, is more likely at fault than they are", away, natural.Count(workers, "worker"))
	}
	return ""
}

// ripe reports whether it is time to replace a dead worker, and tells why not.
func (d *decider) ripe(n Node) bool {
	due := d.due(n)
	goesOn := n.Machine == 0 && d.now.Replacing == n.Name
	again := d.lastBegun(n.Name).Add(d.policy.DeadAfter)
	switch {
	case goesOn && d.now.At.Before(again):
		d.note("%s: its replacement did not come to its end; it goes on at %s", n.Name, clock(again))
		return false
	case goesOn:
		return true
	case d.flaps(n):
		back := d.memory.nodes[n.Name].returned
		d.note("%s flaps: it was dead before, and back at %s; it is not replaced before it has been dead until %s", n.Name, clock(back), clock(due))
		return false
	case d.now.At.Before(due):
		d.note("%s is replaced if it is dead until %s", n.Name, clock(due))
		return false
	case d.replaced() >= d.policy.Most:
		d.note("%s is not replaced now: as many workers are newer than %s as may be replaced in that time (%d)", n.Name, d.policy.Per, d.policy.Most)
		return false
	}
	return true
}

// due is when a dead worker may be replaced: a new machine gets its time first, and one
// that flaps has to be dead for longer.
func (d *decider) due(n Node) time.Time {
	since := d.memory.DeadSince(n.Name)
	if started := n.Created.Add(StartsWithin); n.Machine != 0 && started.After(since) {
		since = started
	}
	due := since.Add(d.policy.DeadAfter)
	if back := d.memory.nodes[n.Name].returned; !back.IsZero() {
		if steady := back.Add(SteadyAfter); steady.After(due) {
			return steady
		}
	}
	return due
}

// flaps reports whether a dead worker came back from being dead not long ago.
func (d *decider) flaps(n Node) bool {
	back := d.memory.nodes[n.Name].returned
	return !back.IsZero() && d.now.At.Before(back.Add(SteadyAfter))
}

// lastBegun is when this watch last began to replace a worker; long ago if it did not.
func (d *decider) lastBegun(node string) (last time.Time) {
	for _, b := range d.memory.begun {
		if b.node == node && b.at.After(last) {
			last = b.at
		}
	}
	return last
}

// replaced is how many workers were made anew within the time of the policy: those that
// this watch has begun, and those whose servers say so, whoever made them. So the bound
// holds for several watches, and after one has started again.
func (d *decider) replaced() (count int) {
	began := map[string]int{}
	for _, b := range d.memory.begun {
		if d.now.At.Sub(b.at) < d.policy.Per {
			began[b.node]++
			count++
		}
	}
	for _, n := range d.now.Nodes {
		if !n.ControlPlane && n.Machine != 0 && d.now.At.Sub(n.Created) < d.policy.Per && began[n.Name] == 0 {
			count++
		}
	}
	return count
}

// clock is a time for people.
func clock(t time.Time) string { return t.UTC().Format("15:04:05") + " UTC" }
