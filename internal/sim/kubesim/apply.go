package kubesim

import (
	"net/http"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/yaml"
)

// patch changes an object, or, on the server's side, makes it.
func (a *API) patch(q query, body []byte) (code int, answer any, err error) {
	live, err := a.find(q)
	made := apierrors.IsNotFound(err)
	switch kind := types.PatchType(q.content); {
	case kind == types.ApplyYAMLPatchType:
		if made {
			live, err = nil, a.inNamespace(q)
		}
		if err == nil {
			live, err = a.applied(q, live, body)
		}
	case err != nil:
	case kind == types.JSONPatchType:
		live, err = a.operated(q, live, body)
	case kind == types.MergePatchType || kind == types.StrategicMergePatchType:
		live, err = a.merged(q, live, body)
	default:
		err = apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", q.groupResource(), q.name, "patches of this kind are not understood", 0, true)
	}
	if err != nil {
		return 0, nil, err
	}
	if made {
		code = http.StatusCreated
	} else {
		code = http.StatusOK
	}
	return code, a.kept(q, live), nil
}

// operated makes the operations of a JSON patch. One of them that does not hold
// refuses all.
func (a *API) operated(q query, live *unstructured.Unstructured, body []byte) (*unstructured.Unstructured, error) {
	operations, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, apierrors.NewBadRequest("the patch is no list of operations")
	}
	before, err := live.MarshalJSON()
	if err != nil {
		return nil, err
	}
	after, err := operations.Apply(before)
	if err != nil {
		return nil, apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "patch", q.groupResource(), q.name, err.Error(), 0, false)
	}
	next := &unstructured.Unstructured{}
	if err := next.UnmarshalJSON(after); err != nil {
		return nil, err
	}
	return a.updated(q, live, next)
}

// merged merges a patch into an object. Lists are replaced as a whole, which is
// not what a strategic patch does with all of them.
func (a *API) merged(q query, live *unstructured.Unstructured, body []byte) (*unstructured.Unstructured, error) {
	var patch map[string]any
	if err := json.Unmarshal(body, &patch); err != nil {
		return nil, apierrors.NewBadRequest("the patch is not JSON")
	}
	if v, _, _ := unstructured.NestedString(patch, "metadata", "resourceVersion"); v != "" && v != live.GetResourceVersion() {
		return nil, apierrors.NewConflict(q.groupResource(), q.name, errModified)
	}
	next := live.DeepCopy()
	merge(next.Object, patch)
	return a.updated(q, live, next)
}

func merge(into, patch map[string]any) {
	for key, value := range patch {
		below, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isMap:
			next, _ := into[key].(map[string]any)
			if next == nil {
				next = map[string]any{}
			}
			merge(next, below)
			into[key] = next
		default:
			into[key] = value
		}
	}
}

// applied is an object after a server-side apply.
func (a *API) applied(q query, live *unstructured.Unstructured, body []byte) (*unstructured.Unstructured, error) {
	want := &unstructured.Unstructured{}
	text, err := yaml.YAMLToJSON(body)
	if err == nil {
		err = json.Unmarshal(text, &want.Object)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest("the configuration is not YAML")
	}
	if q.values["fieldManager"] == "" {
		return nil, apierrors.NewBadRequest("fieldManager is required for apply patch")
	}
	if q.kind.namespaced {
		want.SetNamespace(q.namespace)
	}
	if live == nil {
		live = q.empty()
	}
	f, err := q.fields()
	if err != nil {
		return nil, err
	}
	next, err := f.Apply(live, want, q.values["fieldManager"], q.values["force"] == "true")
	if err != nil {
		return nil, err
	}
	return next.(*unstructured.Unstructured), nil
}

// updated notes who has changed which fields.
func (a *API) updated(q query, live, next *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if live == nil {
		live = q.empty()
	}
	f, err := q.fields()
	if err != nil {
		return nil, err
	}
	manager := q.values["fieldManager"]
	if manager == "" {
		manager = "unknown"
	}
	noted, err := f.Update(live, next, manager)
	if err != nil {
		return nil, err
	}
	return noted.(*unstructured.Unstructured), nil
}

func (q query) empty() *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(q.kind.GroupVersionKind)
	o.SetName(q.name)
	o.SetNamespace(q.namespace)
	return o
}

// fields is what keeps whose fields are whose.
func (q query) fields() (*managedfields.FieldManager, error) {
	sub := q.sub
	if !slices.Contains([]string{"status", "scale"}, sub) {
		sub = ""
	}
	return managedfields.NewDefaultFieldManager(managedfields.NewDeducedTypeConverter(), untyped{}, untyped{}, untyped{},
		q.kind.GroupVersionKind, q.kind.GroupVersion(), sub, nil)
}

// untyped converts, defaults and makes objects that have no types: there is one
// version of each.
type untyped struct{}

// Convert is never needed.
func (untyped) Convert(any, any, any) error { return errModified }

// ConvertToVersion changes nothing.
func (untyped) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

// ConvertFieldLabel changes nothing.
func (untyped) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// Default sets nothing.
func (untyped) Default(runtime.Object) {}

// New makes an empty object.
func (untyped) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(kind)
	return o, nil
}
