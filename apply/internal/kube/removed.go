package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/kubelifecycle"
)

// Use is a use of an API version that a later Kubernetes has no more.
type Use struct {
	What, Owner string
	// In is the first version that has it no more.
	In string
	// Stored says that there are objects which can be read in no other version.
	Stored bool
}

// RemovedUses finds what of an API ends up to a minor version of Kubernetes 1, and is
// used: objects that are stored and have no other version; who writes objects in such a
// version, by their managed fields; and what Flux and Helm have applied in one.
func RemovedUses(ctx context.Context, c *Client, until int) ([]Use, error) {
	k, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	r := endings{client: c, kinds: k, until: until}
	for _, find := range []func(context.Context) error{r.served, r.flux, r.helm} {
		if err := find(ctx); err != nil {
			return nil, err
		}
	}
	return r.uses, nil
}

// endings are the uses that are found.
type endings struct {
	client *Client
	kinds  *kinds
	until  int
	uses   []Use
}

// ends reports whether a version of a kind ends.
func (r *endings) ends(gvk schema.GroupVersionKind) (e kubelifecycle.Ends, ends bool) {
	e, known := kubelifecycle.Of(gvk)
	return e, known && e.In <= r.until
}

// exact is where a version of a kind is; false if the API does not serve it.
func (r *endings) exact(gvk schema.GroupVersionKind) (resource, bool) {
	at, found := r.kinds.find(gvk.GroupKind(), gvk.Version)
	return at, found && at.Version == gvk.Version
}

// stays is where a kind is in a version that does not end.
func (r *endings) stays(kind schema.GroupKind) (resource, bool) {
	mappings, err := r.kinds.mapper.RESTMappings(kind)
	if err != nil {
		return resource{}, false
	}
	for _, m := range mappings {
		if _, ends := r.ends(m.GroupVersionKind); !ends {
			return r.exact(m.GroupVersionKind)
		}
	}
	return resource{}, false
}

// served looks at the objects of kinds that are served in a version that ends.
func (r *endings) served(ctx context.Context) error {
	for _, e := range kubelifecycle.All() {
		at, found := r.exact(e.GroupVersionKind)
		if !found || e.In > r.until {
			continue
		}
		var err error
		if other, stays := r.stays(e.GroupKind()); stays {
			err = r.written(ctx, e, other)
		} else {
			err = r.stored(ctx, e, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// stored finds objects that can be read in no other version.
func (r *endings) stored(ctx context.Context, e kubelifecycle.Ends, at resource) error {
	var names []string
	err := r.client.in(at, "").list(ctx, metav1.ListOptions{}, func(o map[string]any) error {
		names = append(names, fullName(o))
		return nil
	})
	if err == nil && len(names) > 0 {
		r.add(e, some(names), true)
	}
	return err
}

// written finds who has written objects in a version that ends.
func (r *endings) written(ctx context.Context, e kubelifecycle.Ends, at resource) error {
	by := map[string][]string{}
	err := r.client.in(at, "").list(ctx, metav1.ListOptions{}, func(o map[string]any) error {
		for _, f := range (&unstructured.Unstructured{Object: o}).GetManagedFields() {
			if name := fullName(o); f.APIVersion == e.GroupVersion().String() && !slices.Contains(by[f.Manager], name) {
				by[f.Manager] = append(by[f.Manager], name)
			}
		}
		return nil
	})
	for _, manager := range slices.Sorted(maps.Keys(by)) {
		r.add(e, fmt.Sprintf("%s, which writes %s", manager, some(by[manager])), false)
	}
	return err
}

// add notes a use, once.
func (r *endings) add(e kubelifecycle.Ends, owner string, stored bool) {
	u := Use{What: e.GroupVersion().String() + " " + e.Kind, Owner: owner, In: e.Release(), Stored: stored}
	if !slices.Contains(r.uses, u) {
		r.uses = append(r.uses, u)
	}
}

// applied notes what somebody has applied in a version that ends.
func (r *endings) applied(gvk schema.GroupVersionKind, owner string) {
	if e, ends := r.ends(gvk); ends {
		r.add(e, owner, false)
	}
}

// fluxKinds have inventories of what they have applied.
var fluxKinds = []schema.GroupKind{{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}, {Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"}}

// flux reads the inventories of Flux: a name as namespace_name_group_kind, and a version.
func (r *endings) flux(ctx context.Context) error {
	for _, kind := range fluxKinds {
		at, served := r.kinds.find(kind)
		if !served {
			continue
		}
		err := r.client.in(at, "").list(ctx, metav1.ListOptions{}, func(o map[string]any) error {
			entries, _, _ := unstructured.NestedSlice(o, "status", "inventory", "entries")
			for _, entry := range entries {
				e, _ := entry.(map[string]any)
				id, _ := e["id"].(string)
				version, _ := e["v"].(string)
				if parts := strings.Split(id, "_"); len(parts) == 4 {
					r.applied(schema.GroupVersionKind{Group: parts[2], Version: version, Kind: parts[3]}, kind.Kind+" "+fullName(o))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fullName is the name of an object, with its namespace if it has one.
func fullName(object map[string]any) string {
	o := kubeplan.Object(object).ID()
	return strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
}

// named is how many names are printed.
const named = 3

// some are the first names, and how many there are besides.
func some(names []string) string {
	if len(names) <= named {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:named], ", "), len(names)-named)
}
