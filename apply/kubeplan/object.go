package kubeplan

import (
	"cmp"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
)

// Object is an object of the Kubernetes API as JSON has it: maps with text keys,
// lists, texts, int64 or float64, booleans and nil.
type Object map[string]any

// ID says which object of a cluster one is, whatever the version of its API.
type ID struct {
	Group, Kind, Namespace, Name string
}

// String is kind.group/namespace/name, without what is empty.
func (id ID) String() string {
	kind := id.Kind
	if id.Group != "" {
		kind += "." + id.Group
	}
	if id.Namespace != "" {
		return kind + "/" + id.Namespace + "/" + id.Name
	}
	return kind + "/" + id.Name
}

// Key is the name of the object within a plan.
func (id ID) Key() plan.Key { return plan.Key(id.String()) }

// ParseID reads what [ID.String] wrote.
func ParseID(text string) (id ID, ok bool) {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return ID{}, false
	}
	id.Kind, id.Group, _ = strings.Cut(parts[0], ".")
	id.Name = parts[len(parts)-1]
	if len(parts) == 3 {
		id.Namespace = parts[1]
	}
	return id, id.Kind != "" && id.Name != ""
}

func compareIDs(a, b ID) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// ID returns which object it is.
func (o Object) ID() ID {
	group, _, found := strings.Cut(o.APIVersion(), "/")
	if !found {
		group = ""
	}
	return ID{Group: group, Kind: o.Kind(), Namespace: o.Namespace(), Name: o.Name()}
}

// APIVersion is the group and version of the object's API.
func (o Object) APIVersion() string { return o.Text("apiVersion") }

// Kind is the kind of the object.
func (o Object) Kind() string { return o.Text("kind") }

// Name is metadata.name.
func (o Object) Name() string { return o.Text("metadata", "name") }

// Namespace is metadata.namespace.
func (o Object) Namespace() string { return o.Text("metadata", "namespace") }

// UID is metadata.uid.
func (o Object) UID() string { return o.Text("metadata", "uid") }

// Version is metadata.resourceVersion.
func (o Object) Version() string { return o.Text("metadata", "resourceVersion") }

// Value returns what is below a path of keys, or nil.
func (o Object) Value(path ...string) any {
	var value any = map[string]any(o)
	for _, key := range path {
		m, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = m[key]
	}
	return value
}

// Text returns the text below a path of keys, or "".
func (o Object) Text(path ...string) string {
	text, _ := o.Value(path...).(string)
	return text
}

// Map returns the map below a path of keys, or nil.
func (o Object) Map(path ...string) map[string]any {
	m, _ := o.Value(path...).(map[string]any)
	return m
}

// List returns the list below a path of keys, or nil.
func (o Object) List(path ...string) []any {
	list, _ := o.Value(path...).([]any)
	return list
}

// Secret reports whether the object is a Secret of Kubernetes.
func (o Object) Secret() bool { return o.APIVersion() == "v1" && o.Kind() == "Secret" }

// withMetadata is the object with other metadata.
func (o Object) withMetadata(metadata map[string]any) Object {
	out := make(Object, len(o))
	for k, v := range o {
		out[k] = v
	}
	out["metadata"] = metadata
	return out
}
