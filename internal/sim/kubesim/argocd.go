package kubesim

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The kinds of Argo CD, and who it is.
const (
	argoGroup     = "argoproj.io"
	argoNamespace = "argocd"
	argoManager   = "argocd-controller"
	argoTracking  = "argocd.argoproj.io/tracking-id"
)

// argoKinds are the kinds of Argo CD that clusters of talosgen use.
var argoKinds = parseKinds(argoGroup + "/v1alpha1 applications Application appprojects AppProject")

// syncArgo lets Argo CD do its work, once it runs.
func (a *API) syncArgo(f *Flux) {
	if f.ArgoCD != "" {
		a.installArgo(f.ArgoCD)
	} else if !a.ready(objectID{"StatefulSet", argoNamespace, "argocd-application-controller"}) || !a.ready(objectID{"Deployment", argoNamespace, "argocd-repo-server"}) {
		return
	}
	for _, seen := range a.ofKind("Application") {
		o := a.current(seen) // an earlier Application may have changed it, or removed it
		if o == nil || o.GetAnnotations()["argocd.argoproj.io/skip-reconcile"] == "true" {
			continue
		}
		if o.GetDeletionTimestamp() != nil {
			a.cascade(o)
			continue
		}
		a.sync(f, o)
	}
	a.endProjects()
}

// installArgo makes what somebody makes who installs Argo CD.
func (a *API) installArgo(namespace string) {
	if a.index("CustomResourceDefinition", "", "applications."+argoGroup) >= 0 {
		return
	}
	a.store(&unstructured.Unstructured{Object: object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": namespace}}})
	a.define(argoKinds...)
}

// cascade removes what an Application runs, and then that itself. It cannot without the
// project, which says what the Application may do.
func (a *API) cascade(o *unstructured.Unstructured) {
	if project := projectOf(o); a.index("AppProject", o.GetNamespace(), project) < 0 {
		a.argoStatus(o, "Unknown", "Unknown", "", object{"conditions": []any{object{
			"type": "DeletionError", "message": fmt.Sprintf("error getting app project %q: not found", project),
		}}})
		return
	}
	for _, id := range a.controllers.flux[o.GetUID()].objects {
		if !a.argoSays(id, "Delete=false") {
			a.dropOf(o, id)
		}
	}
	a.drop(o)
}

// sync makes of an Application what Argo CD makes of it: objects by wave, each wave
// after the one before is healthy, and then what is gone from Git goes.
func (a *API) sync(f *Flux, o *unstructured.Unstructured) {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(o.Object, append([]string{"spec"}, path...)...)
		return value
	}
	_, revision, found := strings.Cut(f.Revision(text("source", "targetRevision")), "@sha1:")
	if !found || a.index("AppProject", o.GetNamespace(), projectOf(o)) < 0 {
		a.argoStatus(o, "Unknown", "Unknown", "", object{"conditions": []any{object{
			"type": "InvalidSpecError", "message": fmt.Sprintf("Application referencing project %s which does not exist", projectOf(o)),
		}}})
		return
	}
	was, now := a.controllers.flux[o.GetUID()], a.now()
	if _, automated, _ := unstructured.NestedMap(o.Object, "spec", "syncPolicy", "automated"); !automated {
		return
	}
	if was.revision != revision || was.generation != o.GetGeneration() || now.Sub(was.at) >= again {
		objects, waits, err := a.syncWaves(f, o, path.Clean(text("source", "path")))
		switch {
		case err != nil:
			a.argoStatus(o, "OutOfSync", "Missing", revision, object{"operationState": object{"phase": "Failed", "message": err.Error()}})
			return
		case waits != "":
			// What it has made so far is its own, and goes with it.
			was.objects = merged(was.objects, objects)
			a.controllers.flux[o.GetUID()] = was
			a.argoStatus(o, "OutOfSync", "Progressing", revision, object{"operationState": object{"phase": "Running", "message": "waiting for healthy state of " + waits}})
			return
		}
		if prune, _, _ := unstructured.NestedBool(o.Object, "spec", "syncPolicy", "automated", "prune"); prune {
			a.argoPrune(o, was.objects, objects)
		}
		was = reconciled{o.GetGeneration(), revision, now, objects}
		a.controllers.flux[o.GetUID()] = was
	}
	health := "Healthy"
	if slices.ContainsFunc(was.objects, func(id objectID) bool { return !a.ready(id) }) {
		health = "Progressing"
	}
	a.argoStatus(o, "Synced", health, revision, object{"operationState": object{"phase": "Succeeded", "syncResult": object{"revision": revision}}})
}

// merged are the objects of both lists, each once.
func merged(a, b []objectID) []objectID {
	all := slices.Clone(a)
	for _, id := range b {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// argoStatus keeps the status of an Application.
func (a *API) argoStatus(o *unstructured.Unstructured, synced, health, revision string, more object) {
	status := object{"sync": object{"status": synced, "revision": revision}, "health": object{"status": health}}
	for key, value := range more {
		status[key] = value
	}
	a.setStatus(o, status)
}

// syncWaves applies what an Application leads to; waits names what a wave waits for.
func (a *API) syncWaves(f *Flux, owner *unstructured.Unstructured, dir string) (ids []objectID, waits string, err error) {
	contents, err := f.Read(dir)
	if err != nil {
		return nil, "", err
	}
	waves := map[int][]*unstructured.Unstructured{}
	var order []int
	for _, content := range contents {
		o := (&unstructured.Unstructured{Object: content}).DeepCopy()
		wave, _ := strconv.Atoi(o.GetAnnotations()["argocd.argoproj.io/sync-wave"])
		if waves[wave] == nil {
			order = append(order, wave)
		}
		waves[wave] = append(waves[wave], o)
	}
	slices.Sort(order)
	for i, wave := range order {
		for _, o := range waves[wave] {
			track(owner, o)
			if err := a.applyAs(argoManager, o); err != nil {
				return ids, "", err
			}
			ids = append(ids, idOf(o))
		}
		for _, id := range ids {
			if i < len(order)-1 && !a.ready(id) {
				return ids, id.kind + "/" + id.namespace + "/" + id.name, nil
			}
		}
	}
	return ids, "", nil
}

// track marks an object as that of an Application. Definitions are not marked.
func track(owner, o *unstructured.Unstructured) {
	if o.GetKind() == "CustomResourceDefinition" {
		return
	}
	namespace := o.GetNamespace()
	if namespace == "" {
		namespace, _, _ = unstructured.NestedString(owner.Object, "spec", "destination", "namespace")
	}
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[argoTracking] = owner.GetName() + ":" + o.GroupVersionKind().Group + "/" + o.GetKind() + ":" + namespace + "/" + o.GetName()
	o.SetAnnotations(annotations)
}

// argoPrune removes what an Application does not apply any more, if it still is its own,
// and does not say that it is to stay. An Application takes along what it runs, if it
// says so. Projects go first: Argo CD has another order, but does not keep it when it is
// late to see what is gone.
func (a *API) argoPrune(owner *unstructured.Unstructured, before, now []objectID) {
	for _, projects := range []bool{true, false} {
		for _, id := range before {
			if (id.kind == "AppProject") == projects && !slices.Contains(now, id) && !a.argoSays(id, "Prune=false") {
				a.dropOf(owner, id)
			}
		}
	}
}

// projectOf is the project of an Application.
func projectOf(o *unstructured.Unstructured) string {
	project, _, _ := unstructured.NestedString(o.Object, "spec", "project")
	return project
}

// ofKind are the objects of a kind of Argo CD.
func (a *API) ofKind(kind string) []*unstructured.Unstructured {
	return a.sorted(func(o *unstructured.Unstructured) bool {
		return o.GroupVersionKind().GroupKind() == schema.GroupKind{Group: argoGroup, Kind: kind}
	})
}

// endProjects removes the projects that are to go, once no Application is of them.
func (a *API) endProjects() {
	applications := a.ofKind("Application")
	for _, project := range a.ofKind("AppProject") {
		used := slices.ContainsFunc(applications, func(o *unstructured.Unstructured) bool {
			return o.GetNamespace() == project.GetNamespace() && projectOf(o) == project.GetName()
		})
		if project.GetDeletionTimestamp() != nil && !used {
			a.drop(project)
		}
	}
}

// dropOf removes an object, if it is one of an Application.
func (a *API) dropOf(owner *unstructured.Unstructured, id objectID) {
	i := a.index(id.kind, id.namespace, id.name)
	if i >= 0 && strings.HasPrefix(a.objects[i].GetAnnotations()[argoTracking], owner.GetName()+":") {
		a.remove(a.objects[i].DeepCopy())
	}
}

// argoSays reports whether an object that is there has an option for Argo CD.
func (a *API) argoSays(id objectID, option string) bool {
	i := a.index(id.kind, id.namespace, id.name)
	return i >= 0 && slices.Contains(strings.Split(a.objects[i].GetAnnotations()["argocd.argoproj.io/sync-options"], ","), option)
}

// healthy reports whether an Application is as Git says, and all of it is ready.
func healthy(o *unstructured.Unstructured) bool {
	synced, _, _ := unstructured.NestedString(o.Object, "status", "sync", "status")
	health, _, _ := unstructured.NestedString(o.Object, "status", "health", "status")
	return synced == "Synced" && health == "Healthy"
}
