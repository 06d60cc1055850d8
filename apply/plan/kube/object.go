package kube

import (
	"cmp"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Object is an object of the Kubernetes API as JSON has it.
type Object = manifest.Object

// ID says which object of a cluster one is, whatever the version of its API.
type ID = manifest.ID

// keyOf is the name of an object within a plan.
func keyOf(id ID) plan.Key { return plan.Key(id.String()) }

// UID is metadata.uid.
func UID(o Object) string { return o.Text("metadata", "uid") }

func compareIDs(a, b ID) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
