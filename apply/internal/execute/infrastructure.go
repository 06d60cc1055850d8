package execute

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
)

// Infrastructure is the part of a loop that all plans of the infrastructure
// share: later ones do no more than somebody agreed to with this one.
func Infrastructure(agreed *cloudplan.Plan) Loop[*cloudplan.Plan, cloudplan.Change] {
	c := consent{}
	for _, ch := range agreed.Changes {
		c[ch.Key] = ch
	}
	return Loop[*cloudplan.Plan, cloudplan.Change]{
		Steps: func(p *cloudplan.Plan) []cloudplan.Change { return p.Changes },
		Check: c.check, Text: text,
	}
}

// consent is what somebody agreed to, by object.
type consent map[plan.Key]cloudplan.Change

// check refuses what nobody has agreed to: harmless changes go without, and so
// does everything about an object that this run makes.
func (c consent) check(p *cloudplan.Plan) error {
	var list diag.List
	for _, r := range p.Refusals {
		list.Add(r.Problem().WithCode(diag.Conflict))
	}
	for _, ch := range p.Changes {
		agreed := c[ch.Key]
		made := agreed.Action == cloudplan.Create || agreed.Action == cloudplan.Replace
		switch {
		case !ch.Allowed,
			ch.Destructive && !agreed.Destructive,
			ch.Class == cloudplan.PowerOff && agreed.Class != cloudplan.PowerOff && !made:
			list.Add(diag.On(string(ch.Key), "to %s it was not agreed to, and is needed only since the run began: %s", ch.Action, cmp.Or(ch.Reason, fields(ch))).
				WithCode(diag.Conflict).WithHint("another program or operator changes the project; look at a new plan"))
		}
	}
	return list.Err()
}

// text names the changes of a plan.
func text(p *cloudplan.Plan) string {
	var parts []string
	for _, c := range p.Changes {
		part := fmt.Sprintf("%s %s", c.Action, c.Key)
		if len(c.Fields) > 0 {
			part += " (" + fields(c) + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// fields names what a change changes.
func fields(c cloudplan.Change) string {
	var names []string
	for _, f := range c.Fields {
		names = append(names, strings.TrimSuffix(f.Name+" "+f.Item, " "))
	}
	return strings.Join(names, ", ")
}
