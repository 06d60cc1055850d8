package kube

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sorting"
)

// talosManager is the field manager of Talos, whose objects these are.
const talosManager = "talos"

// Since 1.13 Talos has an inventory of its objects, a ConfigMap, and each of them names
// it in an annotation: what does not is not removed by talosctl, or refused.
const (
	talosInventory  = "talos-bootstrap-manifests-inventory"
	owningInventory = "config.k8s.io/owning-inventory"
)

// Manifests makes Talos' own objects what a node has for them, as talosctl does, and
// returns which of them changed. A dry run only says which would. What others have set
// besides stays, and the addresses of a Service are those that it was given.
func (c *Client) Manifests(ctx context.Context, objects []manifest.Object, dryRun bool) (changed []string, err error) {
	a, err := c.applier(ctx)
	if err != nil {
		return nil, err
	}
	inventory, err := c.hasInventory(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range staged(objects) {
		if inventory {
			o = owned(o)
		}
		r, found := a.of(o)
		if !found && !dryRun { // its definition may have come just now
			if a, err = c.applier(ctx); err != nil {
				return changed, err
			}
			r, found = a.of(o)
		}
		differs := true
		switch {
		case found:
			differs, err = a.assert(ctx, r, o, dryRun)
		case !dryRun:
			err = notServed(o)
		}
		if err != nil {
			return changed, err
		}
		if differs {
			changed = append(changed, o.ID().String())
		}
	}
	return changed, nil
}

// hasInventory reports whether Talos has an inventory of its objects.
func (c *Client) hasInventory(ctx context.Context) (bool, error) {
	_, err := c.in(configMaps, metav1.NamespaceSystem).get(ctx, talosInventory)
	if absent(err) {
		return false, nil
	}
	return err == nil, err
}

// owned is an object that says that it is in the inventory.
func owned(o manifest.Object) manifest.Object {
	o, metadata, annotations := maps.Clone(o), maps.Clone(o.Map("metadata")), map[string]any{owningInventory: talosInventory}
	for name, value := range o.Map("metadata", "annotations") {
		annotations[name] = value
	}
	metadata["annotations"] = annotations
	o["metadata"] = metadata
	return o
}

// stages are the kinds that others need, by when they are applied.
var stages = map[string]int{"Namespace": -3, "CustomResourceDefinition": -3, "ConfigMap": -2, "Secret": -2}

// staged are objects in an order in which each finds what it needs.
func staged(objects []manifest.Object) []manifest.Object {
	sorted := slices.Clone(objects)
	sorting.By(sorted, func(a, b manifest.Object) int { return cmp.Compare(stages[a.Kind()], stages[b.Kind()]) })
	return sorted
}

// assert applies an object of Talos, and reports whether that changes it.
func (a applier) assert(ctx context.Context, r resource, o manifest.Object, dryRun bool) (differs bool, err error) {
	id := o.ID()
	api := a.client.in(r, id.Namespace)
	live, err := api.get(ctx, id.Name)
	if err != nil && !absent(err) {
		return false, on(id, err)
	}
	if err != nil && dryRun {
		return true, nil
	}
	options := metav1.PatchOptions{FieldManager: talosManager, Force: new(true)}
	if dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	result, err := api.patch(ctx, id.Name, types.ApplyPatchType, addressed(o, live), options)
	return !reflect.DeepEqual(meant(live), meant(result)), on(id, err)
}

// addressed is a Service with the addresses that it has.
func addressed(o, live manifest.Object) manifest.Object {
	spec, was := o.Map("spec"), live.Map("spec")
	if o.Kind() != "Service" || spec == nil || was["clusterIP"] == nil {
		return o
	}
	o, spec = maps.Clone(o), maps.Clone(spec)
	for _, key := range []string{"clusterIP", "clusterIPs"} {
		if spec[key] != nil && was[key] != nil {
			spec[key] = was[key]
		}
	}
	o["spec"] = spec
	return o
}

// meant is an object without what the API notes of it.
func meant(o manifest.Object) manifest.Object {
	o, metadata := maps.Clone(o), maps.Clone(o.Map("metadata"))
	for _, key := range []string{"managedFields", "resourceVersion", "generation"} {
		delete(metadata, key)
	}
	delete(o, "status")
	if o != nil {
		o["metadata"] = metadata
	}
	return o
}

// Unready are the workloads among objects that do not run as they are described yet, each
// with what it waits for.
func (c *Client) Unready(ctx context.Context, objects []manifest.Object) (waits []string, err error) {
	kinds := map[string]resource{"Deployment": deployments, "DaemonSet": daemonSets}
	for _, o := range objects {
		r, workload := kinds[o.Kind()]
		if !workload || o.ID().Group != appsv1.GroupName {
			continue
		}
		live, err := c.in(r, o.ID().Namespace).get(ctx, o.ID().Name)
		if err != nil && !absent(err) {
			return nil, err
		}
		if ready, text := Readiness(kubeplan.Object(live)); !ready {
			waits = append(waits, o.ID().String()+": "+text)
		}
	}
	return waits, nil
}
