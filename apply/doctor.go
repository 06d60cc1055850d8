package apply

import (
	"context"
	"net/netip"

	"github.com/talosgen/talosgen/apply/preflight"
)

// Check looks, before anything is changed, for what would keep a plan from
// being executed: half of it would be done then. own are the public addresses
// of whoever runs this, as far as they are known.
func (s *Session) Check(ctx context.Context, p *Plan, own []netip.Addr) ([]preflight.Finding, error) {
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
func (e *Environment) ClosedToAll() []preflight.Finding {
	return preflight.ClosedToAll(&e.Infrastructure)
}
