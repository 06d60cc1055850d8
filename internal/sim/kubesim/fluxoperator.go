package kubesim

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The operator of Flux, and what it installs Flux by.
const (
	fluxOperator  = "flux-operator"
	fluxInstances = "fluxcd.controlplane.io"
	fluxInstance  = "FluxInstance"
)

// keeps is how often the operator applies what has not changed.
const keeps = time.Hour

// fluxCRDs are where the kinds of each controller of Flux are defined.
var fluxCRDs = map[string][]kind{
	"source-controller":    parseKinds(sources + "/v1 gitrepositories GitRepository\n" + sources + "/v1 ocirepositories OCIRepository"),
	"kustomize-controller": parseKinds(kustomizations + "/v1 kustomizations Kustomization"),
	"notification-controller": parseKinds(notifications + "/v1beta3 providers Provider\n" +
		notifications + "/v1beta3 alerts Alert"),
}

// installFlux does what the Flux Operator does, once it runs: it makes of the
// FluxInstance the controllers of Flux with the definitions of their kinds, and what
// makes them look, as the owner of all of that.
func (a *API) installFlux() {
	if !a.ready(objectID{"Deployment", fluxNamespace, fluxOperator}) {
		return
	}
	i := a.index(fluxInstance, fluxNamespace, "flux")
	if i < 0 || a.objects[i].GetDeletionTimestamp() != nil {
		return
	}
	instance := a.objects[i]
	was, now := a.controllers.flux[instance.GetUID()], a.now()
	state := condition("Ready", "True", "ReconciliationSucceeded", "Reconciliation finished")
	if was.generation != instance.GetGeneration() || now.Sub(was.at) >= keeps {
		objects, err := a.take(instance)
		if err != nil {
			state = condition("Ready", "False", "BuildFailed", "build failed: "+err.Error())
		} else {
			was = reconciled{generation: instance.GetGeneration(), at: now, objects: objects}
			a.controllers.flux[instance.GetUID()] = was
		}
	}
	unready := slices.IndexFunc(was.objects, func(id objectID) bool { return !a.ready(id) })
	if built := was.generation == instance.GetGeneration(); built && unready >= 0 {
		id := was.objects[unready]
		state = condition("Ready", "Unknown", "Progressing", "waits for "+id.kind+"/"+id.namespace+"/"+id.name)
	}
	state.(object)["observedGeneration"] = instance.GetGeneration()
	a.setStatus(instance, object{"conditions": []any{state}})
}

// take applies what the operator makes of a FluxInstance. What others applied of it
// before becomes its own, and loses the labels of a Kustomization.
func (a *API) take(instance *unstructured.Unstructured) (ids []objectID, err error) {
	objects, err := instanceObjects(instance)
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if i := a.index(o.GetKind(), o.GetNamespace(), o.GetName()); i >= 0 {
			a.give(a.objects[i], fluxManager, fluxOperator)
		}
		if err := a.applyAs(fluxOperator, o); err != nil {
			return nil, err
		}
		ids = append(ids, idOf(o))
	}
	return ids, nil
}

// give makes the fields that a manager has applied those of another one.
func (a *API) give(o *unstructured.Unstructured, from, to string) {
	next := o.DeepCopy()
	entries := next.GetManagedFields()
	had := slices.ContainsFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == to && e.Operation == "Apply" })
	changed := false
	for i := range entries {
		if e := &entries[i]; e.Manager == from && e.Operation == "Apply" && e.Subresource == "" && !had {
			e.Manager, changed = to, true
		}
	}
	if changed {
		next.SetManagedFields(entries)
		a.store(next)
	}
}

// instanceObjects are what the operator makes of a FluxInstance.
func instanceObjects(instance *unstructured.Unstructured) (all []*unstructured.Unstructured, err error) {
	all = append(all, &unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": fluxNamespace}}})
	controllers, _, _ := unstructured.NestedStringSlice(instance.Object, "spec", "components")
	for _, name := range controllers {
		for _, k := range fluxCRDs[name] {
			all = append(all, withoutStatus(definition(k)))
		}
	}
	for _, name := range controllers {
		all = append(all, &unstructured.Unstructured{Object: object{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": name, "namespace": fluxNamespace},
			"spec": object{
				"selector": object{"matchLabels": object{"app": name}},
				"template": object{"metadata": object{"labels": object{"app": name}}, "spec": object{"containers": []any{object{"name": "manager", "image": "ghcr.io/fluxcd/" + name}}}},
			},
		}})
	}
	all = append(all, syncObjects(instance)...)
	for _, o := range all {
		o.SetAnnotations(map[string]string{kustomizations + "/ssa": "Ignore", kustomizations + "/prune": "Disabled"})
	}
	return all, patched(instance, all)
}

func withoutStatus(o *unstructured.Unstructured) *unstructured.Unstructured {
	delete(o.Object, "status")
	return o
}

// syncObjects are the source that a FluxInstance follows, and the Kustomization of it.
func syncObjects(instance *unstructured.Unstructured) []*unstructured.Unstructured {
	sync, found, _ := unstructured.NestedStringMap(instance.Object, "spec", "sync")
	if !found {
		return nil
	}
	metadata := object{"name": cmp.Or(sync["name"], fluxNamespace), "namespace": fluxNamespace}
	ref := object{"name": sync["ref"]}
	if sync["kind"] == "OCIRepository" {
		ref = object{"tag": sync["ref"]}
	}
	return []*unstructured.Unstructured{
		{Object: object{"apiVersion": sources + "/v1", "kind": sync["kind"], "metadata": metadata, "spec": object{"url": sync["url"], "ref": ref}}},
		{Object: object{"apiVersion": kustomizations + "/v1", "kind": "Kustomization", "metadata": metadata, "spec": object{
			"path": sync["path"], "prune": true, "sourceRef": object{"kind": sync["kind"], "name": metadata["name"]},
		}}},
	}
}

// patched applies the patches of a FluxInstance that are lists of operations, each to
// the objects of its kind and name.
func patched(instance *unstructured.Unstructured, all []*unstructured.Unstructured) error {
	patches, _, _ := unstructured.NestedSlice(instance.Object, "spec", "kustomize", "patches")
	for _, p := range patches {
		text, _, _ := unstructured.NestedString(p.(object), "patch")
		target, _, _ := unstructured.NestedStringMap(p.(object), "target")
		operations, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			return err
		}
		patch, err := jsonpatch.DecodePatch(operations)
		if err != nil {
			continue // a strategic merge, of which nothing here depends
		}
		for _, o := range all {
			if target["kind"] != "" && target["kind"] != o.GetKind() || target["name"] != "" && target["name"] != o.GetName() {
				continue
			}
			if err := patchObject(o, patch); err != nil {
				return err
			}
		}
	}
	return nil
}

func patchObject(o *unstructured.Unstructured, patch jsonpatch.Patch) error {
	text, err := json.Marshal(o.Object)
	if err != nil {
		return err
	}
	if text, err = patch.Apply(text); err != nil {
		return err
	}
	return o.UnmarshalJSON(text)
}
