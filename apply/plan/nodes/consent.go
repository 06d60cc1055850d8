package nodes

import (
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
)

// disturbs are actions that nobody wants to be surprised by.
var disturbs = []Action{Drain, Reboot, TransferLeadership, Leave, RemoveMember, DeleteNode, Reset}

// Check refuses a later plan of the same run that does what nobody agreed to
// with this one: harmless steps go without, and so does what a node needs that
// this plan disturbs already. The error has the exit code [diag.Conflict].
func (p *Plan) Check(later *Plan) error {
	var list diag.List
	for _, r := range later.Refusals {
		list.Add(r.Problem().WithCode(diag.Conflict))
	}
	var reported []string
	for _, s := range later.Steps {
		if !slices.Contains(disturbs, s.Action) || s.Allowed && p.touches(s) || slices.Contains(reported, s.Node) {
			continue
		}
		reported = append(reported, s.Node)
		list.Add(diag.On("node "+s.Node, "to %s was not agreed to, and is needed only since the run began", s.Action).
			WithHint("another program or operator changes the cluster; look at a new plan").WithCode(diag.Conflict))
	}
	return list.Err()
}

// touches reports whether the plan disturbs the node of a step, and with consent
// if the step needs it.
func (p *Plan) touches(s Step) bool {
	return slices.ContainsFunc(p.Steps, func(o Step) bool {
		return o.Node == s.Node && o.Action != Health && o.Consent == s.Consent
	})
}

// Text names the steps of the plan, and what they change.
func (p *Plan) Text() string {
	text := ""
	for i, s := range p.Steps {
		if i > 0 {
			text += "; "
		}
		text += string(s.Action) + " " + s.Node
		for _, c := range s.Changes {
			text += " (" + c.Document + " " + c.Path + ")"
		}
	}
	return text
}

// WithoutStaged returns the plan without configurations that nodes have for
// their next boot already, if that is left to somebody else.
func (p *Plan) WithoutStaged(staged func(node string) bool) *Plan {
	left := *p
	left.Steps = slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool {
		reboots := slices.ContainsFunc(p.Steps, func(o Step) bool { return o.Node == s.Node && o.Action == Reboot })
		return s.Action == Stage && !reboots && staged(s.Node)
	})
	return &left
}
