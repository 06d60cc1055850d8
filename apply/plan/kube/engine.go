package kube

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Engine is what runs objects from Git in a cluster.
type Engine int

// The engines.
const (
	EngineFlux Engine = iota
	EngineArgoCD
)

// String is its name for people.
func (e Engine) String() string {
	if e == EngineArgoCD {
		return "Argo CD"
	}
	return "Flux"
}

// Kind is the kind of what owns objects for it.
func (e Engine) Kind() string {
	if e == EngineArgoCD {
		return "Application"
	}
	return "Kustomization"
}

// manager is its field manager.
func (e Engine) manager() string {
	if e == EngineArgoCD {
		return ManagerArgoCD
	}
	return ManagerFlux
}

// owns is what becomes of an object that it looks after.
func (e Engine) owns() Action {
	if e == EngineArgoCD {
		return ArgoOwns
	}
	return FluxOwns
}

// Argo CD knows its objects by an annotation: the name of the Application, and the
// object, so that a copy of it is not taken for another one.
const trackingID = "argocd.argoproj.io/tracking-id"

// SkipReconcile is the annotation that lets Argo CD leave an Application alone.
const SkipReconcile = "argocd.argoproj.io/skip-reconcile"

// mark adds to an object's metadata that by which the engine knows what is its own.
func (i Item) mark(metadata map[string]any) {
	namespace, name, found := strings.Cut(i.Kustomization, "/")
	if !found {
		return
	}
	id := i.ID()
	field, marks := "labels", map[string]any{labelNamespace: namespace, labelName: name}
	switch {
	case i.Engine != EngineArgoCD:
	case id.Kind == "CustomResourceDefinition":
		return // which Argo CD does not mark
	default:
		at := cmp.Or(id.Namespace, i.Destination)
		field, marks = "annotations", map[string]any{trackingID: name + ":" + id.Group + "/" + id.Kind + ":" + at + "/" + id.Name}
	}
	all := maps.Clone(i.Object.Map("metadata", field))
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, marks)
	metadata[field] = all
}

// owner is an object of an engine that owns others.
type owner struct {
	engine Engine
	name   string // namespace/name
}

// String names it for people.
func (o owner) String() string { return o.engine.Kind() + " " + o.name }

// ownerOf is what owns an object, as its labels or annotations say; the name is empty if
// nothing does. Argo CD does not say in which namespace its Application is.
func (o Observed) ownerOf(live Object) owner {
	if name := kustomizationOf(live); name != "" {
		return owner{EngineFlux, name}
	}
	text, _ := live.Map("metadata", "annotations")[trackingID].(string)
	name, rest, found := strings.Cut(text, ":")
	id := live.ID()
	if !found || !strings.HasPrefix(rest, id.Group+"/"+id.Kind+":") || !strings.HasSuffix(rest, "/"+id.Name) {
		return owner{}
	}
	for _, application := range slices.Sorted(maps.Keys(o.Applications)) {
		if _, base, _ := strings.Cut(application, "/"); base == name {
			return owner{EngineArgoCD, application}
		}
	}
	return owner{EngineArgoCD, name}
}

// progress is how far an engine is with an owner of objects.
func (o Observed) progress(by owner) (k Kustomization, found bool) {
	if by.engine == EngineArgoCD {
		k, found = o.Applications[by.name]
	} else {
		k, found = o.Kustomizations[by.name]
	}
	return k, found && by.name != ""
}

// owner is what owns an item in Git.
func (i Item) owner() owner { return owner{i.Engine, i.Kustomization} }

// IsApplication reports whether an object is one that Argo CD is told by what to run.
func IsApplication(id ID) bool { return id.Group == "argoproj.io" && id.Kind == "Application" }

// ReadApplication reads how far Argo CD is with an Application.
func ReadApplication(o Object) Kustomization {
	revision, synced := o.Text("status", "sync", "revision"), o.Text("status", "sync", "status") == "Synced"
	k := Kustomization{
		Deleting:  o.Text("metadata", "deletionTimestamp") != "",
		Attempted: revision,
		Suspended: o.Value("spec", "syncPolicy", "automated") == nil || o.Value("spec", "syncPolicy", "automated", "enabled") == false ||
			o.Text("metadata", "annotations", SkipReconcile) == "true",
	}
	switch {
	case synced:
		k.Applied = revision
	case o.Text("status", "operationState", "phase") == "Succeeded":
		k.Applied = o.Text("status", "operationState", "syncResult", "revision")
	}
	health := o.Text("status", "health", "status")
	k.Ready = synced && health == "Healthy"
	if k.Ready {
		return k
	}
	k.Message = applicationError(o)
	if k.Message == "" {
		k.Message = strings.Trim(o.Text("status", "sync", "status")+", "+health, ", ")
	}
	return k
}

// applicationError is what Argo CD says that is wrong with an Application; empty if it
// says nothing.
func applicationError(o Object) string {
	for _, entry := range o.List("status", "conditions") {
		m, _ := entry.(map[string]any)
		if condition := Object(m); strings.HasSuffix(condition.Text("type"), "Error") {
			return condition.Text("type") + ": " + condition.Text("message")
		}
	}
	if phase := o.Text("status", "operationState", "phase"); phase != "" && phase != "Succeeded" {
		return o.Text("status", "operationState", "message")
	}
	return o.Text("status", "health", "message")
}

// argoNamespace is the namespace of the Applications that own something; empty if none
// does.
func argoNamespace(desired Desired) string {
	for _, item := range desired.Items {
		if item.Engine == EngineArgoCD {
			namespace, _, _ := strings.Cut(item.Kustomization, "/")
			return namespace
		}
	}
	return ""
}
