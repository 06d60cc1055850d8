package apply

import (
	"context"
	"github.com/talosgen/talosgen/apply/plan/lineage"
	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/internal/diag"
	"net/netip"
	"slices"
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

// CheckTree refuses a tree that is older than the one that was applied last, or may
// be, for a command that makes no plan of the whole and has no consent to it.
func (s *Session) CheckTree(ctx context.Context) error {
	v, err := s.record.verdict(ctx)
	if err != nil || v.State != lineage.Refuse {
		return err
	}
	return diag.On(string(presentTree{env: s.env}.key()), "%s", v.Text).WithHint("%s, with `talosgen apply %s`", v.Hint, s.env.name)
}

// CheckRecovery makes sure that the snapshot can be decrypted and is whole, and
// that the plan has use for it: every control plane has to prove that it has no
// etcd, or etcd was made from this snapshot by a run that did not come to its
// end. Without a snapshot there is nothing to check.
func (s *Session) CheckRecovery(ctx context.Context, p *Plan) error {
	if s.recovery == nil {
		return nil
	}
	file := s.recovery.from.File
	id, err := s.recovery.ID(ctx)
	if err != nil {
		return err
	}
	does := func(a nodeplan.Action) bool {
		return p.Nodes != nil && slices.ContainsFunc(p.Nodes.Steps, func(st nodeplan.Step) bool { return st.Action == a })
	}
	if does(nodeplan.Bootstrap) {
		return nil
	}
	if does(nodeplan.Record) {
		if intent, err := s.connect.intents.Intent(ctx); err != nil || intent.Snapshot == id {
			return err
		}
		return diag.On(file, "etcd serves already; the snapshot would be ignored").WithHint("%s", insteadOfRecovery).WithCode(diag.Usage)
	}
	return diag.On(file, "there is no etcd to recover: the plan does not bootstrap one").
		WithHint("%s", insteadOfRecovery).WithCode(diag.Usage)
}
