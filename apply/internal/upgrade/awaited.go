package upgrade

import upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"

// awaited tells what a run waits for, whenever that changes.
type awaited struct {
	notify func(step, text string)
	now    map[string]string // texts, by what they are about
}

// say tells what is waited for from now on.
func (a *awaited) say(notes []upgradeplan.Note) {
	before := a.now
	a.now = map[string]string{}
	for _, n := range notes {
		name := "wait for " + n.Node
		if n.Node == "" {
			name = "wait for the cluster"
		}
		a.now[name] = n.Text
		if before[name] != n.Text {
			a.notify(name, n.Text)
		}
	}
	for name := range before {
		if a.now[name] == "" {
			a.notify(name, "")
		}
	}
}
