package kubesim

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/talosgen/talosgen/internal/sorting"
)

// do does what a request asks for.
func (a *API) do(q query, method string, body []byte) (code int, answer any, err error) {
	if q.values["watch"] != "" && q.values["watch"] != "false" {
		return 0, nil, apierrors.NewMethodNotSupported(q.groupResource(), "watch")
	}
	switch {
	case q.sub == "eviction" && method == http.MethodPost:
		answer, err = a.evict(q, body)
		return http.StatusCreated, answer, err
	case method == http.MethodPost && q.name == "":
		answer, err = a.create(q, body)
		return http.StatusCreated, answer, err
	case method == http.MethodGet && q.name == "":
		answer, err = a.list(q)
	case method == http.MethodGet:
		answer, err = a.get(q)
	case method == http.MethodPut && q.name != "":
		answer, err = a.replace(q, body)
	case method == http.MethodPatch && q.name != "":
		return a.patch(q, body)
	case method == http.MethodDelete && q.name != "":
		answer, err = a.delete(q, body)
	default:
		err = apierrors.NewMethodNotSupported(q.groupResource(), method)
	}
	return http.StatusOK, answer, err
}

func (q query) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: q.kind.Group, Resource: q.kind.resource}
}

// Put stores an object as it is, in place of what has its name.
func (a *API) Put(object map[string]any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.store((&unstructured.Unstructured{Object: object}).DeepCopy())
}

// Get returns an object; nil if there is none.
func (a *API) Get(kind, namespace, name string) map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := a.index(kind, namespace, name); i >= 0 {
		return a.objects[i].DeepCopy().Object
	}
	return nil
}

// See is [API.Get] for those who only read: what it returns must not be changed.
func (a *API) See(kind, namespace, name string) map[string]any {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := a.index(kind, namespace, name); i >= 0 {
		return a.objects[i].Object
	}
	return nil
}

// SeeAll is [API.All] for those who only read.
func (a *API) SeeAll(kind string) (all []map[string]any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, o := range a.sorted(func(o *unstructured.Unstructured) bool { return o.Object["kind"] == kind }) {
		all = append(all, o.Object)
	}
	return all
}

// All returns the objects of a kind, by namespace and name; of the empty kind
// everything.
func (a *API) All(kind string) (all []map[string]any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, o := range a.sorted(func(o *unstructured.Unstructured) bool { return kind == "" || o.GetKind() == kind }) {
		all = append(all, o.DeepCopy().Object)
	}
	return all
}

// Remove takes an object away, if it is there.
func (a *API) Remove(kind, namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := a.index(kind, namespace, name); i >= 0 {
		a.objects = slices.Delete(slices.Clone(a.objects), i, i+1)
	}
}

// index finds an object. Kinds of different groups that have one name are one
// here.
func (a *API) index(kind, namespace, name string) int {
	return slices.IndexFunc(a.objects, func(o *unstructured.Unstructured) bool { // it is asked for often
		is, _ := o.Object["kind"].(string)
		return is == kind && metaOf(o, "name") == name && metaOf(o, "namespace") == namespace
	})
}

// metaOf is a text of an object's metadata.
func metaOf(o *unstructured.Unstructured, field string) string {
	meta, _ := o.Object["metadata"].(map[string]any)
	text, _ := meta[field].(string)
	return text
}

// current is an object as it is now; nil if it is gone.
func (a *API) current(o *unstructured.Unstructured) *unstructured.Unstructured {
	if i := a.index(o.GetKind(), o.GetNamespace(), o.GetName()); i >= 0 {
		return a.objects[i]
	}
	return nil
}

func (a *API) find(q query) (*unstructured.Unstructured, error) {
	if i := a.index(q.kind.Kind, q.namespace, q.name); i >= 0 {
		return a.objects[i].DeepCopy(), a.readable(a.objects[i])
	}
	return nil, apierrors.NewNotFound(q.groupResource(), q.name)
}

// store keeps an object, with the fields that every object has.
func (a *API) store(o *unstructured.Unstructured) *unstructured.Unstructured {
	a.last++
	o.SetResourceVersion(strconv.FormatUint(a.last, 10))
	if o.GetUID() == "" {
		o.SetUID(a.newUID())
	}
	if o.GetCreationTimestamp().Time.IsZero() {
		o.SetCreationTimestamp(metav1.NewTime(a.now().UTC().Truncate(time.Second)))
	}
	a.encrypted(o)
	a.objects = slices.Clone(a.objects)
	if i := a.index(o.GetKind(), o.GetNamespace(), o.GetName()); i >= 0 {
		a.objects[i] = o
	} else {
		a.objects = append(a.objects, o)
	}
	return o
}

// newUID is an id that no object has, be it of another API from which it was loaded.
func (a *API) newUID() types.UID {
	if a.pods != nil {
		return types.UID(fmt.Sprintf("00000000-0000-4000-9000-%012d", a.last))
	}
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", a.last))
}

// kept is store, unless it is a trial, or the object waits for the last
// finalizer to go.
func (a *API) kept(q query, o *unstructured.Unstructured) *unstructured.Unstructured {
	a.generate(q, o)
	if q.values["dryRun"] != "" {
		return o
	}
	if o.GetDeletionTimestamp() != nil && len(o.GetFinalizers()) == 0 {
		a.drop(o)
		return o
	}
	if live := a.current(o); a.unwritten(live, o) {
		return live
	}
	return a.store(o)
}

func (a *API) drop(o *unstructured.Unstructured) {
	a.objects = slices.DeleteFunc(slices.Clone(a.objects), func(other *unstructured.Unstructured) bool { return other.GetUID() == o.GetUID() })
}

// remove removes an object; one that has finalizers is marked, and returned.
func (a *API) remove(live *unstructured.Unstructured) *unstructured.Unstructured {
	if len(live.GetFinalizers()) == 0 {
		a.drop(live)
		return nil
	}
	if live.GetDeletionTimestamp() != nil {
		return live
	}
	now := metav1.NewTime(a.now().UTC().Truncate(time.Second))
	live.SetDeletionTimestamp(&now)
	return a.store(live)
}

func (a *API) get(q query) (any, error) { return a.find(q) }

func (a *API) list(q query) (any, error) {
	byLabels, err := labels.Parse(q.values["labelSelector"])
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	byFields, err := fields.ParseSelector(q.values["fieldSelector"])
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	items := []any{}
	for _, o := range a.sorted(func(o *unstructured.Unstructured) bool {
		return o.GetKind() == q.kind.Kind && (q.namespace == "" || q.namespace == o.GetNamespace()) &&
			byLabels.Matches(labels.Set(o.GetLabels())) && byFields.Matches(selectable(o))
	}) {
		if err := a.readable(o); err != nil {
			return nil, err
		}
		items = append(items, o.Object)
	}
	return map[string]any{
		"kind": q.kind.Kind + "List", "apiVersion": q.kind.GroupVersion().String(),
		"metadata": map[string]any{"resourceVersion": strconv.FormatUint(a.last, 10)}, "items": items,
	}, nil
}

// sorted are the objects for which is holds, by namespace and name.
func (a *API) sorted(is func(*unstructured.Unstructured) bool) (found []*unstructured.Unstructured) {
	for _, o := range a.objects {
		if is(o) {
			found = append(found, o)
		}
	}
	sorting.By(found, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(metaOf(a, "namespace"), metaOf(b, "namespace")), cmp.Compare(metaOf(a, "name"), metaOf(b, "name")))
	})
	return found
}

// selectable are the fields by which objects can be selected.
func selectable(o *unstructured.Unstructured) fields.Set {
	node, _, _ := unstructured.NestedString(o.Object, "spec", "nodeName")
	phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
	return fields.Set{"metadata.name": o.GetName(), "metadata.namespace": o.GetNamespace(), "spec.nodeName": node, "status.phase": phase}
}

// decode reads the object of a request.
func (q query) decode(body []byte) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	if q.content != "" && q.content != "application/json" {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, q.values["method"], q.groupResource(), q.name, "only JSON is understood", 0, true)
	}
	if err := json.Unmarshal(body, &o.Object); err != nil {
		return nil, apierrors.NewBadRequest("the body is not JSON")
	}
	o.SetGroupVersionKind(q.kind.GroupVersionKind)
	if q.kind.namespaced {
		o.SetNamespace(q.namespace)
	}
	return o, nil
}

func (a *API) create(q query, body []byte) (any, error) {
	o, err := q.decode(body)
	if err != nil {
		return nil, err
	}
	if a.index(q.kind.Kind, o.GetNamespace(), o.GetName()) >= 0 {
		return nil, apierrors.NewAlreadyExists(q.groupResource(), o.GetName())
	}
	if err := a.inNamespace(q); err != nil {
		return nil, err
	}
	if o, err = a.updated(q, nil, o); err != nil {
		return nil, err
	}
	return a.kept(q, o), nil
}

// inNamespace refuses what is to be made in a namespace that is not there.
func (a *API) inNamespace(q query) error {
	if q.kind.namespaced && a.index("Namespace", "", q.namespace) < 0 {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, q.namespace)
	}
	return nil
}

func (a *API) replace(q query, body []byte) (any, error) {
	live, err := a.find(q)
	if err != nil {
		return nil, err
	}
	o, err := q.decode(body)
	if err != nil {
		return nil, err
	}
	if v := o.GetResourceVersion(); v != "" && v != live.GetResourceVersion() {
		return nil, apierrors.NewConflict(q.groupResource(), q.name, errModified)
	}
	o.SetUID(live.GetUID())
	o.SetCreationTimestamp(live.GetCreationTimestamp())
	if o, err = a.updated(q, live, o); err != nil {
		return nil, err
	}
	return a.kept(q, o), nil
}

var errModified = fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again")

// delete removes an object, or marks one that has finalizers.
func (a *API) delete(q query, body []byte) (any, error) {
	live, err := a.find(q)
	if err != nil {
		return nil, err
	}
	var o metav1.DeleteOptions
	if len(body) > 0 {
		if err := json.Unmarshal(body, &o); err != nil {
			return nil, apierrors.NewBadRequest("the options are not JSON")
		}
	}
	if p := o.Preconditions; p != nil && p.UID != nil && *p.UID != live.GetUID() {
		return nil, apierrors.NewConflict(q.groupResource(), q.name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s)", *p.UID, live.GetUID()))
	}
	if q.values["dryRun"] != "" || len(o.DryRun) > 0 {
		return live, nil
	}
	if marked := a.remove(live); marked != nil {
		return marked, nil
	}
	return &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}, nil
}
