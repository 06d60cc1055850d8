package base

import (
	"reflect"
	"slices"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
)

// added are lists of what has a name, and is not known by it alone: several may have the
// same.
var added = []string{"DNSRecord", "Role", "RoleReference"}

// TestItemKeys: what items of lists are known by is a key that each must have; and what
// has a name is known by it.
func TestItemKeys(t *testing.T) {
	found := map[string]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		for _, f := range reflect.VisibleFields(typ) {
			inner := f.Type
			for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, inner.Kind()) {
				inner = inner.Elem()
			}
			if inner.Kind() != reflect.Struct || inner == reflect.TypeFor[yaml.Node]() {
				continue
			}
			if f.Type.Kind() == reflect.Slice {
				found[inner.Name()] = true
				checkItem(t, inner)
			}
			walk(inner)
		}
	}
	walk(reflect.TypeFor[schemas.Cluster]())
	for name := range schemas.ItemKeys {
		if !found[name] {
			t.Errorf("%s is no item of a list", name)
		}
	}
}

func checkItem(t *testing.T, item reflect.Type) {
	key := schemas.ItemKeys[item.Name()]
	has := func(key string) bool {
		return slices.ContainsFunc(reflect.VisibleFields(item), func(f reflect.StructField) bool {
			return f.Tag.Get("yaml") == key && f.Tag.Get("required") == "true"
		})
	}
	switch {
	case key != "" && !has(key):
		t.Errorf("%s need not have %s", item.Name(), key)
	case key == "" && has("name") && !slices.Contains(added, item.Name()):
		t.Errorf("%s has a name: is it known by it? It belongs into schemas.ItemKeys, or into added here", item.Name())
	}
}
