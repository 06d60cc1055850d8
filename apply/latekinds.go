package apply

import (
	"context"

	"github.com/talosgen/talosgen/apply/internal/kube"
	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
)

// lateKinds is how often objects are made whose kind was not there before: operators
// may define kinds of which other operators' objects are.
const lateKinds = 3

// executeObjects makes the changes of a plan, and what waited for a kind that an
// operator defines which the run has started. Left is what is planned after that.
func (r *Report) executeObjects(ctx context.Context, executor kube.Executor, now *kubeplan.Plan, again func() (*kubeplan.Plan, error)) error {
	for range 1 + lateKinds {
		done, err := executor.Execute(ctx, now)
		r.Objects = append(r.Objects, done...)
		if err != nil {
			return err
		}
		before := now
		if now, err = again(); err != nil {
			return err
		}
		r.Left.Kubernetes = now
		if !now.Frees(before) {
			return nil
		}
	}
	return nil
}
