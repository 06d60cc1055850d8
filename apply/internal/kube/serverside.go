package kube

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
)

// Trials asks what the API would do to each item, without doing it.
func (c *Client) Trials(ctx context.Context, items []kubeplan.Item) (map[kubeplan.ID]kubeplan.DryRun, error) {
	if len(items) == 0 {
		return map[kubeplan.ID]kubeplan.DryRun{}, nil
	}
	a, err := c.applier(ctx)
	if err != nil {
		return nil, err
	}
	trials := map[kubeplan.ID]kubeplan.DryRun{}
	var mu sync.Mutex
	var jobs []func() error
	for _, item := range items {
		jobs = append(jobs, func() error {
			dryRun, err := a.try(ctx, item)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			trials[item.ID()] = dryRun
			return nil
		})
	}
	return trials, inParallel(jobs)
}

// applier changes objects of the kinds that an API serves.
type applier struct {
	client *Client
	*kinds
}

// applier asks what the API serves.
func (c *Client) applier(ctx context.Context) (applier, error) {
	k, err := c.discover(ctx)
	return applier{c, k}, err
}

// try asks what the API would do to an item.
func (a applier) try(ctx context.Context, item kubeplan.Item) (kubeplan.DryRun, error) {
	result, err := a.apply(ctx, item, true)
	r := refused(err)
	switch {
	case err == nil:
		return kubeplan.DryRun{Result: result}, nil
	case r == nil || again(r):
		return kubeplan.DryRun{}, err
	case r.caused(metav1.CauseTypeFieldManagerConflict):
		return kubeplan.DryRun{Conflicts: conflictsOf(r)}, nil
	case r.immutable() != "":
		return kubeplan.DryRun{Immutable: r.immutable()}, nil
	}
	return kubeplan.DryRun{Refused: r.Error(), Hint: r.hint()}, nil
}

// again reports whether an answer says nothing about the object.
func again(r *refusalError) bool {
	return Unavailable(r) || r.status == http.StatusUnauthorized
}

// apply applies an object as its owner, never by force.
func (a applier) apply(ctx context.Context, item kubeplan.Item, dryRun bool) (kubeplan.Object, error) {
	r, found := a.of(item.Object)
	if !found {
		return nil, notServed(item.Object)
	}
	options := metav1.PatchOptions{FieldManager: item.Manager(), Force: new(false), FieldValidation: metav1.FieldValidationStrict}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	id := item.ID()
	for n := 0; ; n++ {
		result, err := a.client.in(r, id.Namespace).patch(ctx, id.Name, types.ApplyPatchType, item.Send(), options)
		if !overtaken(err) || n == applies {
			return result, on(id, err)
		}
		if err := a.client.conn.clock.Sleep(ctx, pauseBefore(n)); err != nil {
			return nil, err
		}
	}
}

// notServed is the error of an object whose kind the API does not have.
func notServed(o kubeplan.Object) error {
	return diag.On(o.ID().String(), "the API serves no %s", kubeplan.Served(o)).
		WithHint("is its CustomResourceDefinition in the tree, and established? Is the version one that this Kubernetes has?").WithCode(diag.Remote)
}

// applies is how often an apply is repeated that others have overtaken.
const applies = 8

// overtaken reports whether the API server gave up an apply since others changed the
// object at the same time, which says nothing about whose fields are whose.
func overtaken(err error) bool {
	r := refused(err)
	return r != nil && r.status == http.StatusConflict && r.reason == metav1.StatusReasonConflict && len(r.causes) == 0
}

// on gives a refusal the object that it is about.
func on(id kubeplan.ID, err error) error {
	r := refused(err)
	if r == nil {
		return err
	}
	return diag.On(id.String(), "%s", r.short()).WithHint("%s", r.hint()).WithCode(diag.Remote).WithCause(r)
}

// short is the answer without the request.
func (e *refusalError) short() string {
	text := strconv.Itoa(e.status) + " " + http.StatusText(e.status)
	if e.message != "" {
		text = e.message
	}
	return text
}

// conflictsOf are the fields that an apply would take from others.
func conflictsOf(r *refusalError) (conflicts []kubeplan.FieldConflict) {
	for _, cause := range r.causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		name := managerOf(cause.Message)
		i := slices.IndexFunc(conflicts, func(f kubeplan.FieldConflict) bool { return f.Manager == name })
		if i < 0 {
			i = len(conflicts)
			conflicts = append(conflicts, kubeplan.FieldConflict{Manager: name})
		}
		if field := strings.TrimPrefix(cause.Field, "."); !slices.Contains(conflicts[i].Fields, field) {
			conflicts[i].Fields = append(conflicts[i].Fields, field)
		}
	}
	return conflicts
}

// managerOf finds the manager in: conflict with "helm" using apps/v1 …
func managerOf(message string) string {
	_, rest, found := strings.Cut(message, `"`)
	name, _, closed := strings.Cut(rest, `"`)
	if !found || !closed {
		return message
	}
	return name
}

// immutable is why an object would have to be made anew; empty if it need not.
func (e *refusalError) immutable() string {
	if e.status != http.StatusUnprocessableEntity {
		return ""
	}
	var fields []string
	for _, cause := range e.causes {
		if strings.Contains(cause.Message, "immutable") || cause.Type == metav1.CauseTypeForbidden && strings.Contains(cause.Message, "updates to") {
			fields = append(fields, cause.Field)
		}
	}
	if len(fields) == 0 {
		return ""
	}
	slices.Sort(fields)
	return strings.Join(slices.Compact(fields), ", ") + " cannot be changed on an object that is there"
}
