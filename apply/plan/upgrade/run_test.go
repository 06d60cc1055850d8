package upgrade_test

import (
	"slices"

	"github.com/talosgen/talosgen/apply/plan/upgrade"
)

// ending is how a run ended.
type ending struct {
	done  bool
	notes []upgrade.Note // why it stopped, or what it waited for
	cut   bool           // killed, or a step that failed
}

// patient is how many rounds a run waits for the same.
const patient = 12

// drive is a run: it takes the steps that Next returns, until there are none. A kill
// ends it before or after a step; below 0 nothing does.
func (w *world) drive(kill int, after bool) ending {
	w.run++
	w.saved = nil
	waited, steps := 0, 0
	for range 5000 {
		d := upgrade.Next(w.want, w.observe(), w.policy)
		switch {
		case len(d.Steps) > 0:
			waited = 0
		case d.Done:
			return ending{done: true}
		case len(d.Stop) > 0:
			return ending{notes: d.Stop}
		default:
			if waited++; waited > patient {
				return ending{notes: d.Wait}
			}
		}
		for _, s := range d.Steps {
			if steps == kill && !after {
				return ending{cut: true}
			}
			on := w.take(s)
			w.check()
			if !on || steps == kill {
				return ending{cut: true}
			}
			if steps++; w.befalls(60) {
				return ending{cut: true} // a kill
			}
		}
		w.tick()
		w.check()
		w.fate()
	}
	w.violate("the run does not end")
	return ending{}
}

// fate strikes without anybody's doing.
func (w *world) fate() {
	if w.befalls(40) {
		w.silent = 1 + w.chance.IntN(3)
	}
	if !w.befalls(300) {
		return
	}
	if m := w.machines[w.chance.IntN(len(w.machines))]; m.Role == upgrade.Worker && m.Mark == nil && !m.Drained {
		m.dead = true
	}
}

// mend is what an operator does after a run that stopped: switch on what hangs, and
// try again what failed, and remove what is dead and in the way.
func (w *world) mend(e ending) {
	w.policy.Retry = nil
	w.machines = slices.DeleteFunc(w.machines, func(m *machine) bool {
		return m.dead && slices.ContainsFunc(e.notes, func(n upgrade.Note) bool { return n.Node == m.Name })
	})
	for _, m := range w.machines {
		if m.down < 0 {
			m.boots++
			m.installs, m.down = 0, 0
		}
		for _, n := range e.notes {
			if n.Node == m.Name && m.Mark != nil && !slices.Contains(w.policy.Retry, m.Name) {
				w.policy.Retry = append(w.policy.Retry, m.Name)
			}
		}
	}
}
