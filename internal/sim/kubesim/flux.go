package kubesim

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// Flux is what source-controller and kustomize-controller do, or Argo CD, as far as that
// can be seen from outside.
type Flux struct {
	// Installed says that somebody has installed Flux: its kinds are served from
	// the beginning. Otherwise it works once both controllers are ready.
	Installed bool
	// ArgoCD is the namespace of an Argo CD that somebody has installed; empty: it works
	// once its controller and its server of repositories are ready.
	ArgoCD string
	// Revision is what the branch of a repository points to, or the tag of an
	// artifact, such as main@sha1:0123….
	Revision func(branch string) string
	// Read returns the objects below a path of the repository, such as
	// rendered/dev/flux.
	Read func(path string) ([]map[string]any, error)
}

// The kinds of Flux, and who it is.
const (
	sources        = "source.toolkit.fluxcd.io"
	kustomizations = "kustomize.toolkit.fluxcd.io"
	notifications  = "notification.toolkit.fluxcd.io"
	fluxNamespace  = "flux-system"
	fluxManager    = "kustomize-controller"
)

// again is how often Flux applies what has not changed.
const again = 10 * time.Minute

// reconciled is what a Kustomization has applied.
type reconciled struct {
	generation int64
	revision   string
	at         time.Time
	objects    []objectID
}

// objectID is which object one is.
type objectID struct{ kind, namespace, name string }

func idOf(o *unstructured.Unstructured) objectID {
	return objectID{o.GetKind(), o.GetNamespace(), o.GetName()}
}

// reconcile lets Flux do its work, and its operator before it.
func (a *API) reconcile(f *Flux) {
	a.installFlux()
	if f.Installed {
		a.install()
	} else if !a.ready(objectID{"Deployment", fluxNamespace, "source-controller"}) || !a.ready(objectID{"Deployment", fluxNamespace, "kustomize-controller"}) {
		return
	}
	work := map[schema.GroupKind]func(*Flux, *unstructured.Unstructured){
		{Group: sources, Kind: "GitRepository"}: a.fetch, {Group: sources, Kind: "OCIRepository"}: a.fetch, {Group: kustomizations, Kind: "Kustomization"}: a.kustomize,
	}
	for _, seen := range a.sorted(func(o *unstructured.Unstructured) bool { return work[o.GroupVersionKind().GroupKind()] != nil }) {
		o := a.current(seen) // an earlier Kustomization may have changed it, or removed it
		if o == nil || o.GetDeletionTimestamp() != nil {
			continue
		}
		if suspended, _, _ := unstructured.NestedBool(o.Object, "spec", "suspend"); !suspended {
			work[o.GroupVersionKind().GroupKind()](f, o)
		}
	}
}

// install makes what somebody makes who installs Flux.
func (a *API) install() {
	if a.index("CustomResourceDefinition", "", "kustomizations."+kustomizations) >= 0 {
		return
	}
	a.store(&unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": fluxNamespace}}})
	a.define(fluxKinds...)
}

// fluxKinds are the kinds of Flux that clusters of talosgen use.
var fluxKinds = parseKinds(sources + "/v1 gitrepositories GitRepository\n" + sources + "/v1 ocirepositories OCIRepository\n" + kustomizations + "/v1 kustomizations Kustomization\n" +
	notifications + "/v1beta3 providers Provider\n" + notifications + "/v1beta3 alerts Alert")

// fetch is a source that has what its branch or tag points to.
func (a *API) fetch(f *Flux, o *unstructured.Unstructured) {
	ref, _, _ := unstructured.NestedStringMap(o.Object, "spec", "ref")
	revision := f.Revision(cmp.Or(ref["branch"], ref["name"], ref["tag"], ref["semver"], ref["digest"], "latest"))
	a.setStatus(o, object{
		"observedGeneration": o.GetGeneration(), "artifact": object{"revision": revision},
		"conditions": []any{condition("Ready", "True", "Succeeded", "stored artifact for revision '"+revision+"'")},
	})
}

// kustomize applies what a Kustomization leads to, once what it depends on is
// ready.
func (a *API) kustomize(f *Flux, o *unstructured.Unstructured) {
	revision, missing := a.sourceOf(o)
	if missing != "" {
		a.setStatus(o, object{"observedGeneration": o.GetGeneration(), "conditions": []any{condition("Ready", "False", "DependencyNotReady", missing)}})
		return
	}
	now, uid := a.now(), o.GetUID()
	was := a.controllers.flux[uid]
	if was.revision != revision || was.generation != o.GetGeneration() || now.Sub(was.at) >= again {
		objects, err := a.applyAll(f, o)
		if err != nil {
			a.setStatus(o, object{
				"observedGeneration": o.GetGeneration(), "lastAttemptedRevision": revision,
				"conditions": []any{condition("Ready", "False", "ReconciliationFailed", err.Error())},
			})
			return
		}
		if prune, _, _ := unstructured.NestedBool(o.Object, "spec", "prune"); prune {
			a.prune(o, was.objects, objects)
		}
		was = reconciled{o.GetGeneration(), revision, now, objects}
		a.controllers.flux[uid] = was
	}
	state := condition("Ready", "True", "ReconciliationSucceeded", "Applied revision: "+revision)
	if wait, _, _ := unstructured.NestedBool(o.Object, "spec", "wait"); wait {
		if i := slices.IndexFunc(was.objects, func(id objectID) bool { return !a.ready(id) }); i >= 0 {
			id := was.objects[i]
			state = condition("Ready", "Unknown", "Progressing", "waits for "+id.kind+"/"+id.namespace+"/"+id.name)
		}
	}
	a.setStatus(o, object{
		"observedGeneration": o.GetGeneration(), "lastAttemptedRevision": revision, "lastAppliedRevision": revision, "conditions": []any{state},
	})
}

// sourceOf is the revision that a Kustomization applies, or what it waits for.
func (a *API) sourceOf(o *unstructured.Unstructured) (revision, missing string) {
	name, _, _ := unstructured.NestedString(o.Object, "spec", "sourceRef", "name")
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "sourceRef", "kind")
	i := a.index(kind, o.GetNamespace(), name)
	if i < 0 {
		return "", "Source artifact not found, retrying"
	}
	revision, _, _ = unstructured.NestedString(a.objects[i].Object, "status", "artifact", "revision")
	needs, _, _ := unstructured.NestedSlice(o.Object, "spec", "dependsOn")
	for _, need := range needs {
		need, _ := need.(object)
		name, _ := need["name"].(string)
		if !a.ready(objectID{"Kustomization", o.GetNamespace(), name}) {
			return revision, "dependency '" + o.GetNamespace() + "/" + name + "' is not ready"
		}
	}
	return revision, ""
}

// applyAll applies the objects of a Kustomization as Flux does: by force, as
// their owner.
func (a *API) applyAll(f *Flux, owner *unstructured.Unstructured) (ids []objectID, err error) {
	dir, _, _ := unstructured.NestedString(owner.Object, "spec", "path")
	objects, err := f.Read(path.Clean(dir))
	if err != nil {
		return nil, err
	}
	for _, content := range objects {
		o := (&unstructured.Unstructured{Object: content}).DeepCopy()
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		labels[kustomizations+"/name"], labels[kustomizations+"/namespace"] = owner.GetName(), owner.GetNamespace()
		o.SetLabels(labels)
		ids = append(ids, idOf(o))
		if a.says(idOf(o), "ssa", "ignore") {
			continue
		}
		if err := a.applyAs(fluxManager, o); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// applyAs applies an object on the server's side.
func (a *API) applyAs(manager string, o *unstructured.Unstructured) error {
	q := query{namespace: o.GetNamespace(), name: o.GetName(), values: map[string]string{"fieldManager": manager, "force": "true"}}
	kinds := a.kinds()
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.GroupVersionKind == o.GroupVersionKind() })
	if i < 0 {
		return fmt.Errorf("%s/%s dry-run failed: no matches for kind %q in version %q", o.GetKind(), o.GetName(), o.GetKind(), o.GetAPIVersion())
	}
	q.kind, q.content = kinds[i], "application/apply-patch+yaml"
	body, err := yaml.Marshal(o.Object)
	if err != nil {
		return err
	}
	_, _, err = a.patch(q, body)
	return err
}

// prune removes what a Kustomization does not apply any more, if it still is its own,
// and does not say that it is to stay.
func (a *API) prune(owner *unstructured.Unstructured, before, now []objectID) {
	for _, id := range before {
		i := a.index(id.kind, id.namespace, id.name)
		if i < 0 || slices.Contains(now, id) || a.says(id, "prune", "disabled") {
			continue
		}
		if labels := a.objects[i].GetLabels(); labels[kustomizations+"/name"] == owner.GetName() && labels[kustomizations+"/namespace"] == owner.GetNamespace() {
			a.drop(a.objects[i])
		}
	}
}

// says reports whether an object that is there has an annotation for Flux.
func (a *API) says(id objectID, annotation, value string) bool {
	i := a.index(id.kind, id.namespace, id.name)
	return i >= 0 && strings.EqualFold(a.objects[i].GetAnnotations()[kustomizations+"/"+annotation], value)
}

// ready reports whether an object is there, and ready as far as its status says.
func (a *API) ready(id objectID) bool {
	i := a.index(id.kind, id.namespace, id.name)
	if i < 0 {
		return false
	}
	o := a.objects[i]
	number := func(path ...string) int64 { n, _, _ := unstructured.NestedInt64(o.Object, path...); return n }
	switch o.GetKind() {
	case "Deployment", "StatefulSet":
		return number("status", "observedGeneration") == o.GetGeneration() && number("status", "readyReplicas") == number("status", "replicas")
	case "DaemonSet":
		return number("status", "observedGeneration") == o.GetGeneration() && number("status", "numberReady") == number("status", "desiredNumberScheduled")
	}
	if o.GetKind() == "Application" && o.GroupVersionKind().Group == argoGroup {
		return healthy(o)
	}
	if group := o.GroupVersionKind().Group; group != fluxInstances && !strings.HasSuffix(group, ".toolkit.fluxcd.io") || group == notifications {
		return true // nothing is noted in whom Flux tells
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(c any) bool {
		c2, _ := c.(object)
		return c2["type"] == "Ready" && c2["status"] == "True"
	})
}
