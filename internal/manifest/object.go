// Package manifest holds Kubernetes objects as plain values: reading them from
// YAML with positions, what identifies one, its scope, and writing them so that
// equal objects give equal bytes. It is pure.
package manifest

import (
	"strings"

	"github.com/talosgen/talosgen/internal/printable"
)

// Object is a Kubernetes object: maps with text keys, lists, texts, numbers
// (int64, uint64 or float64), booleans and nil, as JSON has them.
type Object map[string]any

// ID says which object of a cluster one is, whatever the version of its API.
type ID struct {
	Group, Kind, Namespace, Name string
}

// String is kind.group/namespace/name, without what is empty: Secret/kube-system/hcloud.
// It is one line, whatever the name is.
func (id ID) String() string {
	kind := id.Kind
	if id.Group != "" {
		kind += "." + id.Group
	}
	if id.Namespace != "" {
		kind += "/" + id.Namespace
	}
	return printable.Line(kind + "/" + id.Name)
}

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

// ID returns which object it is.
func (o Object) ID() ID {
	group, _, found := strings.Cut(o.APIVersion(), "/")
	if !found {
		group = ""
	}
	return ID{Group: group, Kind: o.Kind(), Namespace: o.Namespace(), Name: o.Name()}
}

// APIVersion returns the group and version of the object's API.
func (o Object) APIVersion() string { return o.text("apiVersion") }

// Kind returns the kind of the object.
func (o Object) Kind() string { return o.text("kind") }

// Name returns metadata.name.
func (o Object) Name() string { return o.Metadata().text("name") }

// Namespace returns metadata.namespace; empty if it has none.
func (o Object) Namespace() string { return o.Metadata().text("namespace") }

// Metadata returns the metadata of the object itself, not a copy; nil if there
// is none.
func (o Object) Metadata() Object { return o.child("metadata") }

func (o Object) child(key string) Object {
	switch m := o[key].(type) {
	case map[string]any:
		return m
	case Object:
		return m
	}
	return nil
}

func (o Object) text(key string) string {
	text, _ := o[key].(string)
	return text
}
