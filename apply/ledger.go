package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/apply/ledger"
	"github.com/talosgen/talosgen/apply/plan"
)

// planDigits of the digest of a plan are enough to tell plans apart.
const planDigits = 16

// Ledger reads the history of the cluster, the newest run first.
func (c *Cluster) Ledger(ctx context.Context) ([]ledger.Entry, error) {
	text, err := kube.NewLedger(c.client).Text(ctx)
	return ledger.Newest(ledger.Read(text)), err
}

// Record adds a run that changed something to the history that the cluster keeps. The
// report is nil if the command has none, and then the entry says how much it changed.
// Nothing is recorded of a run that has changed nothing, or that did not ask the
// Kubernetes API: there may be none. It returns the entry with what the report says.
func (s *Session) Record(ctx context.Context, e ledger.Entry, r *Report, ended error) (ledger.Entry, error) {
	if e.Commit = s.commit; r != nil {
		e.Changes, e.Outcome, e.Plan = len(r.items()), string(r.outcome(ended)), r.digest()
	}
	api := s.connect.kube.used.Load()
	if api == nil || e.Changes == 0 || r.destroyed() {
		return e, nil
	}
	client, err := api.clientWith(ctx, observeWithin)
	if err != nil {
		return e, err
	}
	defer client.Close()
	return e, kube.NewLedger(client).Record(ctx, func(was string) (string, error) {
		e.Time = client.ServerTime().UTC()
		return ledger.Add(was, e)
	})
}

// destroyed reports whether the cluster was to go, and its history with it.
func (r *Report) destroyed() bool {
	return r != nil && r.Agreed != nil && r.Agreed.Plan != nil && r.Agreed.Destroy
}

// digest stands for the plan that was agreed to; empty without one.
func (r *Report) digest() string {
	var agreed any
	switch {
	case r.Agreed != nil && r.Agreed.Plan != nil:
		agreed = []any{r.Agreed.Plan, r.Agreed.Nodes, r.Agreed.Kubernetes}
	case r.upgrade.agreed != nil:
		agreed = r.upgrade.agreed
	default:
		return ""
	}
	return plan.DigestOf(agreed)[:planDigits]
}
