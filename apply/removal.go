package apply

import (
	"context"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// PlanRemoval looks at the nodes, and says how they are taken out: by the steps
// by which nodes are removed. If no control plane is left, it is the end of the
// cluster, and takes wiping.
func (s *Session) PlanRemoval(ctx context.Context, t Removal) (p *nodeplan.Plan, err error) {
	return s.removal.plan(ctx, t)
}

// Remove takes the steps of a plan of [Session.PlanRemoval] that somebody agreed
// to. The report says what was done also if there is an error.
func (s *Session) Remove(ctx context.Context, agreed *nodeplan.Plan, t Removal, owner Owner) (*Report, error) {
	r := newReport(s.env, s.log, nil)
	if err := refused(agreed.Refusals); err != nil {
		r.refused = true
		return r, err
	}
	err := s.lock.locked(ctx, owner, func() error { return s.removal.execute(ctx, r, agreed, t) })
	r.took(s.log)
	return r, err
}

// Replace takes a node out, by a plan of [Session.PlanRemoval] that somebody
// agreed to, and makes its server anew; a machine that exists already is wiped.
// [Session.Apply] then lets it join.
func (s *Session) Replace(ctx context.Context, agreed *nodeplan.Plan, name string, owner Owner) (*Report, error) {
	r := newReport(s.env, s.log, nil)
	if err := refused(agreed.Refusals); err != nil {
		r.refused = true
		return r, err
	}
	err := s.lock.locked(ctx, owner, func() error {
		if err := s.removal.execute(ctx, r, agreed, s.ToReplace(name)); err != nil {
			return err
		}
		return s.removal.replace(ctx, r, name, owner)
	})
	r.took(s.log)
	return r, err
}

// ToReplace says how a node is taken out that is to be replaced: a machine that
// exists already has to forget what it was; a server goes as a whole.
func (s *Session) ToReplace(name string) Removal {
	return Removal{Nodes: []string{name}, Wipe: s.connect.inventory.exists(name), anew: true}
}
