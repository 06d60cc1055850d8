package kubesim

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Cluster is what the controllers of an API have to do with.
type Cluster struct {
	// Ready is how many nodes are.
	Ready int
	// Pods is how long pods take from the object that wants them until they are
	// ready.
	Pods time.Duration
	// TalosAccess says that Talos gives pods access to its API, and so defines a
	// kind for that.
	TalosAccess bool
	// Flux is what reconciles Git; nil: nobody does.
	Flux *Flux
	// At is the time for the pods of a cluster that was found; zero: now.
	At time.Time
}

// controllers is what they remember.
type controllers struct {
	since map[types.UID]seen // of workloads
	flux  map[types.UID]reconciled
}

// seen is since when a workload is wanted as it is.
type seen struct {
	generation int64
	at         time.Time
}

func (c controllers) clone() controllers {
	return controllers{since: maps.Clone(c.since), flux: maps.Clone(c.flux)}
}

// Settle does what the controllers of a cluster have done by now: definitions
// are established, namespaces active, workloads ready if there is a node for
// them, operators have defined their kinds, and Flux has reconciled. It leaves alone what [API.Put] made of what has
// a generation elsewhere: its status is what it was made with.
func (a *API) Settle(c Cluster) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := rest{a.now(), c, a.objects}
	if a.pods != nil || !now.equal(a.rest) {
		a.work(c)
	}
	if c.Flux != nil { // what Git has changes by itself
		a.reconcile(c.Flux)
		a.syncArgo(c.Flux)
	}
	if a.rest = (rest{}); slices.Equal(a.objects, now.objects) {
		a.rest = now
	}
}

// work is what controllers do that see nothing but the cluster.
func (a *API) work(c Cluster) {
	for _, o := range a.objects {
		if status := a.statusOf(o, c); status != nil {
			a.setStatus(o, status)
		}
	}
	a.operate(c)
	if a.pods != nil {
		a.keep(c)
	}
}

// rest is a moment at which controllers have found nothing to do. Each request lets them
// work, and many come at one moment of a clock that is not of this world.
type rest struct {
	at      time.Time
	cluster Cluster
	objects []*unstructured.Unstructured
}

// equal reports whether nothing has changed since.
func (r rest) equal(o rest) bool {
	return r.at.Equal(o.at) && r.cluster == o.cluster && slices.Equal(r.objects, o.objects)
}

// setStatus keeps a status of an object, if it is another one. What else was
// changed of the object meanwhile stays; one that was removed stays away.
func (a *API) setStatus(o *unstructured.Unstructured, status object) {
	if same(o.Object["status"], status) {
		return
	}
	if o = a.current(o); o == nil {
		return
	}
	next := o.DeepCopy()
	next.Object["status"] = status
	a.store(next)
}

// same reports whether two values of objects are equal. It is [reflect.DeepEqual], which
// every request would wait for, without reflection.
func same(a, b any) bool {
	switch a := a.(type) {
	case object:
		b, is := b.(object)
		return is && maps.EqualFunc(a, b, same)
	case []any:
		b, is := b.([]any)
		return is && slices.EqualFunc(a, b, same)
	case nil, string, bool, int64, float64:
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

type object = map[string]any

// statusOf is the status that the controller of a kind gives an object; nil if
// none does.
func (a *API) statusOf(o *unstructured.Unstructured, c Cluster) object {
	switch {
	case a.asFound(o):
		return nil
	case o.GetKind() == "Namespace" && o.GetDeletionTimestamp() == nil:
		return object{"phase": "Active"}
	case o.GetGeneration() == 0:
		return nil
	}
	switch o.GetKind() {
	case "CustomResourceDefinition":
		return established(o)
	case "Deployment", "StatefulSet", "ReplicaSet":
		return a.replicated(o, c)
	case "DaemonSet":
		return a.onNodes(o, c)
	case "Job":
		if a.aged(o) < c.Pods || c.Ready == 0 {
			return object{"active": int64(1)}
		}
		return object{"succeeded": int64(1), "conditions": []any{condition("Complete", "True", "CompletionsReached", "")}}
	case "APIService":
		return object{"conditions": []any{condition("Available", "True", "Passed", "all checks passed")}}
	}
	return nil
}

func condition(kind, status, reason, message string) any {
	return object{"type": kind, "status": status, "reason": reason, "message": message}
}

// established is the status of a definition.
func established(o *unstructured.Unstructured) object {
	names, _, _ := unstructured.NestedMap(o.Object, "spec", "names")
	status := object{"acceptedNames": names, "conditions": []any{
		condition("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
		condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
	}}
	var stored []any
	versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
	for _, v := range versions {
		if version, _ := v.(object); version["storage"] == true {
			stored = append(stored, version["name"])
		}
	}
	if len(stored) > 0 {
		status["storedVersions"] = stored
	}
	return status
}

// aged is for how long an object is wanted as it is.
func (a *API) aged(o *unstructured.Unstructured) time.Duration {
	now := a.now()
	if s := a.controllers.since[o.GetUID()]; s.generation == o.GetGeneration() {
		return now.Sub(s.at)
	}
	a.controllers.since[o.GetUID()] = seen{o.GetGeneration(), now}
	return 0
}

// replicated is the status of a workload with so many replicas.
func (a *API) replicated(o *unstructured.Unstructured, c Cluster) object {
	want, found, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if !found {
		want = 1
	}
	if want > 0 && (a.aged(o) < c.Pods || c.Ready == 0) {
		return object{
			"observedGeneration": o.GetGeneration(), "replicas": want, "updatedReplicas": want, "unavailableReplicas": want,
			"conditions": []any{
				condition("Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."),
				condition("Progressing", "True", "ReplicaSetUpdated", "ReplicaSet is progressing."),
			},
		}
	}
	return object{
		"observedGeneration": o.GetGeneration(), "replicas": want, "updatedReplicas": want, "readyReplicas": want, "availableReplicas": want,
		"currentReplicas": want, "currentRevision": "1", "updateRevision": "1",
		"conditions": []any{
			condition("Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."),
			condition("Progressing", "True", "NewReplicaSetAvailable", "ReplicaSet has successfully progressed."),
		},
	}
}

// onNodes is the status of a workload with a pod on each node.
func (a *API) onNodes(o *unstructured.Unstructured, c Cluster) object {
	all := a.selected(o)
	ready := all
	if a.aged(o) < c.Pods {
		ready = 0
	}
	return object{
		"observedGeneration": o.GetGeneration(), "desiredNumberScheduled": all, "currentNumberScheduled": all,
		"updatedNumberScheduled": all, "numberReady": ready, "numberAvailable": ready, "numberMisscheduled": int64(0),
	}
}

// selected is how many nodes a workload is for.
func (a *API) selected(o *unstructured.Unstructured) (n int64) {
	selector, _, _ := unstructured.NestedStringMap(o.Object, "spec", "template", "spec", "nodeSelector")
	for _, node := range a.objects {
		if node.GetKind() == "Node" && labels.SelectorFromSet(selector).Matches(labels.Set(node.GetLabels())) {
			n++
		}
	}
	return n
}

// withoutGeneration are the groups whose objects have none.
var withoutGeneration = []string{"", "rbac.authorization.k8s.io", "coordination.k8s.io", "storage.k8s.io", "scheduling.k8s.io", "discovery.k8s.io"}

// generate counts how often what is wanted of an object has changed.
func (a *API) generate(q query, o *unstructured.Unstructured) {
	if slices.Contains(withoutGeneration, q.kind.Group) {
		return
	}
	i := a.index(o.GetKind(), o.GetNamespace(), o.GetName())
	switch {
	case i < 0:
		o.SetGeneration(1)
	case wanted(a.objects[i]).equal(wanted(o)):
		o.SetGeneration(a.objects[i].GetGeneration())
	default:
		o.SetGeneration(a.objects[i].GetGeneration() + 1)
	}
}

// wants is what an object says without what it says of itself.
type wants object

func wanted(o *unstructured.Unstructured) wants {
	w := maps.Clone(o.Object)
	delete(w, "metadata")
	delete(w, "status")
	return w
}

func (w wants) equal(other wants) bool { return maps.EqualFunc(w, other, same) }
