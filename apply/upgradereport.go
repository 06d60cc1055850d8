package apply

import (
	"slices"

	"github.com/talosgen/talosgen/apply/internal/upgrade"
	upgradeplan "github.com/talosgen/talosgen/apply/plan/upgrade"
	"github.com/talosgen/talosgen/apply/summary"
	"github.com/talosgen/talosgen/internal/diag"
)

// upgradeReport is what an upgrade was to do, and what it did. The zero value is that of
// a run that is none.
type upgradeReport struct {
	agreed *upgradeplan.Plan
	steps  []upgradeplan.Step
	// It found nothing more to do: what it has not done itself was there already.
	complete bool
	// Why the run ended before it was done.
	stopped []upgradeplan.Note
}

func (u *upgradeReport) refused() bool { return u.agreed != nil && mayBegin(u.agreed) != nil }

// consents are the flags that agree to the risks; none if the plan is refused anyway.
func (u *upgradeReport) consents() (flags []string) {
	if u.agreed == nil || len(u.agreed.Refusals) > 0 {
		return nil
	}
	for _, id := range u.agreed.Missing() {
		flags = append(flags, "--allow", id)
	}
	return flags
}

// retries are the flags that try again what failed; none if that would not help.
func (u *upgradeReport) retries() (flags []string) {
	stopped := u.stopped
	if u.agreed != nil && len(u.agreed.Refusals) > 0 {
		stopped = u.agreed.Refusals
	}
	for _, n := range stopped {
		if !n.Retry {
			return nil
		}
		flags = append(flags, "--retry", n.Node)
	}
	return flags
}

// installed reports whether a node got another Talos, and whether a configuration still
// names the image of the old one: a move to another contract sends what Git has.
func (u *upgradeReport) installed() (another, named bool) {
	old := map[string]bool{}
	for _, s := range u.steps {
		switch s.Action {
		case upgradeplan.Install:
			another, old[s.Node] = true, true
		case upgradeplan.Contract:
			delete(old, s.Node)
		}
	}
	return another, len(old) > 0
}

// rolledBack reports whether nodes went back to the Talos of before.
func (u *upgradeReport) rolledBack() bool {
	return slices.ContainsFunc(u.steps, func(s upgradeplan.Step) bool { return s.Action == upgradeplan.Rollback })
}

// returned are the flags that upgrade the nodes once more that went back; none if Git has
// the Talos of before too.
func (u *upgradeReport) returned() (flags []string) {
	for _, s := range u.steps {
		if s.Action == upgradeplan.Rollback && slices.ContainsFunc(u.agreed.Left, func(n upgradeplan.Note) bool { return n.Node == s.Node }) {
			flags = append(flags, "--retry", s.Node)
		}
	}
	return flags
}

func (u *upgradeReport) done() []summary.Item { return upgradeItems(u.steps) }

// left are the steps that were agreed to and not taken.
func (u *upgradeReport) left() []summary.Item {
	if u.agreed == nil || u.complete || u.refused() {
		return nil
	}
	return upgradeItems(slices.DeleteFunc(slices.Clone(u.agreed.Steps), func(s upgradeplan.Step) bool {
		return slices.ContainsFunc(u.steps, func(d upgradeplan.Step) bool {
			return d.Action == s.Action && d.Node == s.Node && d.Hop == s.Hop && d.Component == s.Component
		})
	}))
}

// pending tells which nodes keep their versions.
func (u *upgradeReport) pending(add func(kind, object, text, hint string)) {
	if u.agreed == nil {
		return
	}
	for _, n := range u.agreed.Left {
		object := "cluster"
		if n.Node != "" {
			object = "node " + n.Node
		}
		add(summary.Held, object, n.Text, n.Hint)
	}
}

// actionsOfUpgrades are the names that reports have for actions; what has no name here
// has its own.
var actionsOfUpgrades = map[upgradeplan.Action]string{upgradeplan.Boot: "reboot", upgradeplan.Configure: "configure"}

func upgradeItems(steps []upgradeplan.Step) (all []summary.Item) {
	for _, s := range steps {
		action := string(s.Action)
		if name := actionsOfUpgrades[s.Action]; name != "" {
			action = name
		}
		object := s.Node
		if s.Component != "" {
			object += " " + s.Component
		}
		all = append(all, summary.Item{Stage: summary.Upgrade, Action: action, Object: object, Version: s.Version})
	}
	return all
}

// mayBegin is the error of a plan that is refused, or lacks consent.
func mayBegin(p *upgradeplan.Plan) error {
	var problems diag.List
	for _, n := range p.Refusals {
		problems.Add(upgrade.Problem(n, diag.Conflict))
	}
	for _, r := range p.Risks {
		if !r.Agreed {
			problems.Add(upgrade.Problem(upgradeplan.Note{ID: r.ID, Node: r.Node, Text: r.Text, Hint: "to agree: --allow " + r.ID}, diag.Usage))
		}
	}
	return problems.Err()
}
