package apply

import (
	"context"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
)

// TakeOut says which nodes are taken out of their cluster, though the tree has
// them.
type TakeOut struct {
	// Their names; none are all.
	Nodes []string
	// Whether their machines forget what they were, and wait in maintenance mode.
	Wipe bool
}

// NodesPlan is what has to be done with nodes.
type NodesPlan = nodeplan.Plan

// PlanTakeOut looks at the nodes, and says how they are taken out: by the steps
// by which nodes are removed. If no control plane is left, it is the end of the
// cluster, and takes wiping.
func (s *Session) PlanTakeOut(ctx context.Context, t TakeOut) (p *NodesPlan, err error) {
	return s.takeOut.plan(ctx, t)
}

// TakeOut takes the steps of a plan of [Session.PlanTakeOut] that somebody agreed
// to. The report says what was done also if there is an error.
func (s *Session) TakeOut(ctx context.Context, agreed *NodesPlan, t TakeOut, owner Owner) (*Report, error) {
	r := newReport(s.env, s.log, nil)
	if err := refused(agreed.Refusals); err != nil {
		return r, err
	}
	err := s.lock.locked(ctx, owner, func() error { return s.takeOut.execute(ctx, r, agreed, t) })
	r.took(s.log)
	return r, err
}

// Replace takes a node out, by a plan of [Session.PlanTakeOut] that somebody
// agreed to, and makes its server anew; a machine that exists already is wiped.
// [Session.Apply] then lets it join.
func (s *Session) Replace(ctx context.Context, agreed *NodesPlan, name string, owner Owner) (*Report, error) {
	r := newReport(s.env, s.log, nil)
	if err := refused(agreed.Refusals); err != nil {
		return r, err
	}
	err := s.lock.locked(ctx, owner, func() error {
		if err := s.takeOut.execute(ctx, r, agreed, s.ToReplace(name)); err != nil {
			return err
		}
		return s.takeOut.replace(ctx, r, name, owner)
	})
	r.took(s.log)
	return r, err
}

// ToReplace says how a node is taken out that is to be replaced: a machine that
// exists already has to forget what it was; a server goes as a whole.
func (s *Session) ToReplace(name string) TakeOut {
	return TakeOut{Nodes: []string{name}, Wipe: s.project == nil}
}

// NodeNames are those of the tree's nodes.
func (e *Environment) NodeNames() (names []string) {
	for _, x := range e.Infrastructure.Servers {
		if rolesOfNodes[x.Role] != "" {
			names = append(names, x.Name)
		}
	}
	for _, x := range e.Infrastructure.Machines {
		names = append(names, x.Name)
	}
	return names
}
