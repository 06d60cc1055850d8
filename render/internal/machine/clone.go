package machine

import (
	"reflect"
	"sync"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
)

// clone copies a document. The library's own Clone shares with the original
// what its generated code forgets (annotations, pointers to booleans), and a
// merge changes that in place: one node's patch would change other nodes.
func clone(d config.Document) config.Document {
	return deepCopy(reflect.ValueOf(d)).Interface().(config.Document) // the same type
}

// deepCopy copies a value and all that it refers to. Fields that are not
// exported are shared: nobody but their type changes them, and types that do
// replace them.
func deepCopy(v reflect.Value) reflect.Value {
	if !refers(v.Type()) {
		return v
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return v
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(deepCopy(v.Elem()))
		return out
	case reflect.Interface:
		return deepCopy(v.Elem())
	case reflect.Map:
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for entries := v.MapRange(); entries.Next(); {
			out.SetMapIndex(entries.Key(), deepCopy(entries.Value()))
		}
		return out
	case reflect.Slice:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(out, v)
		for i := 0; i < v.Len() && refers(v.Type().Elem()); i++ {
			out.Index(i).Set(deepCopy(v.Index(i)))
		}
		return out
	case reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && refers(f.Type) {
				out.Field(i).Set(deepCopy(v.Field(i)))
			}
		}
		return out
	default:
		return v
	}
}

var referring sync.Map // reflect.Type → bool

// refers reports whether values of a type may share memory with their copies.
func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		return true
	case reflect.Struct:
	default:
		return false
	}
	if known, ok := referring.Load(t); ok {
		return known.(bool) // only these are stored
	}
	found := false
	for i := range t.NumField() {
		f := t.Field(i)
		found = found || f.IsExported() && refers(f.Type)
	}
	referring.Store(t, found)
	return found
}
