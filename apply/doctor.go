package apply

import (
	"context"
	"net/netip"

	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/internal/diag"
)

// Finding is what a check found, before anything is changed.
type Finding = preflight.Finding

// How a check ended.
const (
	Fine    = preflight.OK
	Warning = preflight.Warning
	Wrong   = preflight.Failed
)

// FindingsText prints findings for people.
func FindingsText(findings []Finding) string { return preflight.Text(findings) }

// Check looks, before anything is changed, for what would keep a plan from
// being executed: half of it would be done then. own are the public addresses
// of whoever runs this, as far as they are known.
func (s *Session) Check(ctx context.Context, p *Plan, own []netip.Addr) ([]Finding, error) {
	if s.project == nil {
		return nil, nil
	}
	writes, err := s.project.MayWrite(ctx)
	if err != nil {
		return nil, err
	}
	answer := preflight.No
	if writes {
		answer = preflight.Yes
	}
	return preflight.Run(preflight.Input{
		Plan: p.Plan, TokenWrites: answer, Own: own, Extensions: s.images.extensions(ctx, plannedImages(p.Plan)),
	}), nil
}

// ClosedToAll warns of APIs of the cluster that nobody reaches once apply has
// ended, because its firewall has no rule for them. It asks nobody.
func (e *Environment) ClosedToAll() []Finding {
	return preflight.ClosedToAll(&e.Infrastructure)
}

// FailedChecks is an error with the findings that would keep a plan from being
// executed; nil if there are none.
func FailedChecks(findings []Finding) error {
	var problems diag.List
	for _, f := range findings {
		code := diag.Remote
		if f.Check == preflight.Token {
			code = diag.Secrets
		}
		if f.State == Wrong {
			problems.Add(diag.On(f.Check, "%s", f.Text).WithHint("%s", f.Hint).WithCode(code))
		}
	}
	return problems.Err()
}
