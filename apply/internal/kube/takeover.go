package kube

import (
	"context"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
)

// takeovers is how often a change of managers is tried again, because somebody
// else changed the object meanwhile, as controllers do with statuses.
const takeovers = 8

// TakeOver makes the changes of a plan of [kubeplan.Takeover], and waits for
// nothing: objects stay as they are.
func (e *Executor) TakeOver(ctx context.Context, p *kubeplan.Plan) (done []kubeplan.Step, err error) {
	return e.stage(ctx, p.Steps)
}

// takeOver makes the fields of other managers the owner's. The object stays as
// it is.
func (a applier) takeOver(ctx context.Context, s kubeplan.Step) error {
	r, found := a.of(s.Live())
	if !found {
		return nil // nothing of its kind is there
	}
	api := a.client.in(r, s.ID().Namespace)
	for n := 0; ; n++ {
		live, err := api.get(ctx, s.ID().Name)
		if absent(err) {
			return nil
		}
		if err != nil {
			return on(s.ID(), err)
		}
		patch, err := managersPatch(live, s.Others, s.Item().Manager())
		if err != nil || patch == nil {
			return err
		}
		_, err = api.patch(ctx, s.ID().Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: manager})
		if r := refused(err); r != nil && n < takeovers && (r.status == http.StatusConflict || r.status == http.StatusUnprocessableEntity) {
			// It has another version by now.
			if err := a.client.conn.clock.Sleep(ctx, pauseBefore(n)); err != nil {
				return err
			}
			continue
		}
		return on(s.ID(), err)
	}
}

// explainConflict says whose fields an apply would have taken.
func explainConflict(s kubeplan.Step, err error) error {
	r := refused(err)
	if r == nil || !r.caused(metav1.CauseTypeFieldManagerConflict) {
		return err
	}
	var texts []string
	for _, c := range conflictsOf(r) {
		texts = append(texts, c.Manager+" owns "+strings.Join(c.Fields, ", "))
	}
	return diag.On(s.ID().String(), "is not applied, %s", strings.Join(texts, "; ")).
		WithHint("`talosgen takeover <env>` gives them to %s, if nothing else is to keep them", s.Owner).WithCode(diag.Conflict).WithCause(r)
}
