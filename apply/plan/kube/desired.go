package kube

import (
	"maps"
	"slices"

	"github.com/talosgen/talosgen/internal/sorting"
)

// Stage is when an object is made. Each stage is ready before the next begins.
type Stage string

// The stages, in their order.
const (
	Definitions Stage = "definitions" // custom resource definitions and namespaces
	CNI         Stage = "cni"         // the network of pods
	Provider    Stage = "provider"    // the cloud controller with its Secret, and what else Flux needs
	Keys        Stage = "keys"        // the key by which Flux decrypts
	Flux        Stage = "flux"        // Flux itself
	ArgoCD      Stage = "argocd"      // Argo CD itself
	Sources     Stage = "sources"     // what the engine looks at
)

// Stages are all, in their order.
func Stages() []Stage { return []Stage{Definitions, CNI, Provider, Keys, Flux, ArgoCD, Sources} }

// The field managers of those who own objects.
const (
	ManagerTalosgen = "talosgen"
	ManagerFlux     = "kustomize-controller"
	ManagerArgoCD   = "argocd-controller"
)

// The labels by which a Kustomization of Flux knows its objects.
const (
	labelName      = "kustomize.toolkit.fluxcd.io/name"
	labelNamespace = "kustomize.toolkit.fluxcd.io/namespace"
)

// Item is an object that is to be there.
type Item struct {
	// The object as Git has it, decrypted, in Kubernetes' normal form.
	Object Object
	// Where it is from, for messages: a file of the tree.
	File  string
	Stage Stage
	// The Kustomization of Flux that owns it, or the Application of Argo CD,
	// namespace/name; empty: it is talosgen's.
	Kustomization string
	// Which of both it is.
	Engine Engine
	// Of Argo CD's: the namespace that its Application names for what is in none.
	Destination string
	// Of the engine's: talosgen makes it if the engine has not looked yet, because that
	// could not run, or would not know what to look at, without it.
	Seed bool
	// Of what describes servers that others make later: what these run. Without any
	// it describes none.
	Boots Versions
}

// ID says which object it is.
func (i Item) ID() ID { return i.Object.ID() }

// Manager is the field manager of the object's owner.
func (i Item) Manager() string {
	if i.Kustomization != "" {
		return i.Engine.manager()
	}
	return ManagerTalosgen
}

// Owner is the owner for people.
func (i Item) Owner() string {
	if i.Kustomization != "" {
		return i.owner().String()
	}
	return ManagerTalosgen
}

// Send is the object as it is sent to the API: as its owner would send it. An
// engine marks what it owns.
func (i Item) Send() Object {
	metadata := maps.Clone(i.Object.Map("metadata"))
	if metadata == nil {
		metadata = map[string]any{}
	}
	if metadata["creationTimestamp"] == nil {
		delete(metadata, "creationTimestamp")
	}
	i.mark(metadata)
	return i.Object.WithMetadata(metadata)
}

// Desired is what the rendered tree wants.
type Desired struct {
	Cluster string
	Items   []Item
}

// rank is the order of kinds within a stage: what others refer to comes first,
// and webhooks last, since they would be asked about everything that follows.
func rank(id ID) int {
	switch id.Kind {
	case "Namespace", "CustomResourceDefinition", "PriorityClass", "StorageClass", "RuntimeClass":
		return 0
	case "ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding", "ConfigMap", "Secret",
		"LimitRange", "ResourceQuota", "NetworkPolicy",
		"AppProject": // an Application whose project is not there is refused
		return 1
	case "Service", "PersistentVolumeClaim", "PodDisruptionBudget":
		return 2
	case "Deployment", "DaemonSet", "StatefulSet", "Job", "CronJob", "Pod":
		return 3
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		return 5
	}
	return 4
}

// Rank is the order in which objects of one stage are made; equal ones may be
// made at once.
func (i Item) Rank() int { return rank(i.ID()) }

// sorted are the items in the order in which they are made.
func (d Desired) sorted() []Item {
	stages := Stages()
	items := slices.Clone(d.Items)
	sorting.By(items, func(a, b Item) int {
		if c := slices.Index(stages, a.Stage) - slices.Index(stages, b.Stage); c != 0 {
			return c
		}
		if c := a.Rank() - b.Rank(); c != 0 {
			return c
		}
		return compareIDs(a.ID(), b.ID())
	})
	return items
}
