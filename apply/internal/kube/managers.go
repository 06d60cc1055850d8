package kube

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// managersPatch gives the fields of managers to another one, if the object still
// is in this version; nil if there is nothing to give.
func managersPatch(live map[string]any, from []string, to string) ([]any, error) {
	o := &unstructured.Unstructured{Object: live}
	entries, err := giveFields(o.GetManagedFields(), from, to)
	if err != nil || entries == nil {
		return nil, err
	}
	return []any{
		map[string]any{"op": "test", "path": "/metadata/resourceVersion", "value": o.GetResourceVersion()},
		map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": entries},
	}, nil
}

// giveFields gives what managers have of an object to another one, as Flux does with
// kubectl's fields: one entry of who applies, in the place of all of theirs. Without
// an entry of its own, the new manager has the first of theirs, under its name. What
// was noted of a subresource stays. It returns nil if there is nothing to give.
//
// fluxcd/pkg/ssa has such a function. It is not used, as 207 packages come with it
// (decision 0018).
func giveFields(entries []metav1.ManagedFieldsEntry, from []string, to string) ([]metav1.ManagedFieldsEntry, error) {
	var all *metav1.ManagedFieldsEntry
	var others, given []metav1.ManagedFieldsEntry
	for _, e := range entries {
		switch {
		case e.Subresource != "":
			others = append(others, e)
		case all == nil && e.Manager == to && e.Operation == metav1.ManagedFieldsOperationApply:
			all = &e
		case slices.Contains(from, e.Manager):
			given = append(given, e)
		default:
			others = append(others, e)
		}
	}
	if len(given) == 0 {
		return nil, nil
	}
	if all == nil {
		all, given = &given[0], given[1:]
		all.Manager, all.Operation = to, metav1.ManagedFieldsOperationApply
	}
	for _, e := range given {
		var err error
		if all.FieldsV1, err = union(all.FieldsV1, e.FieldsV1); err != nil {
			return nil, fmt.Errorf("fields of %s: %w", e.Manager, err)
		}
	}
	return append(others, *all), nil
}

// union has the fields of both.
func union(a, b *metav1.FieldsV1) (*metav1.FieldsV1, error) {
	if a == nil {
		return b, nil
	}
	if b == nil {
		return a, nil
	}
	var of [2]fieldpath.Set
	for i, f := range []*metav1.FieldsV1{a, b} {
		if err := of[i].FromJSON(f.GetRawReader()); err != nil {
			return nil, err
		}
	}
	raw, err := of[0].Union(&of[1]).ToJSON()
	if err != nil {
		return nil, err
	}
	return metav1.NewFieldsV1(string(raw)), nil
}
