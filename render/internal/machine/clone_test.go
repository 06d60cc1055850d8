package machine

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// fill gives every field of a type a value: pointers point, lists and maps have
// an entry, free-form maps hold a map and a list.
func fill(v reflect.Value, open []reflect.Type) {
	if !v.CanSet() || slices.Contains(open, v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), append(open, v.Type()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), open)
	case reflect.Map:
		elem := reflect.New(v.Type().Elem()).Elem()
		fill(elem, open)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k").Convert(v.Type().Key()), elem)
	case reflect.Interface:
		if v.NumMethod() == 0 {
			v.Set(reflect.ValueOf(map[string]any{"m": map[string]any{"x": "y"}, "l": []any{map[string]any{"x": "y"}}}))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), open)
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	}
}

// sharedBetween lists the maps, lists and pointers that two values share.
func sharedBetween(a, b reflect.Value, path string) []string {
	var shared []string
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if a.IsNil() || b.IsNil() || a.Kind() == reflect.Slice && a.Len() == 0 {
			return nil
		}
		if a.Pointer() == b.Pointer() && (a.Kind() != reflect.Pointer || a.Type().Elem().Size() > 0) {
			return []string{path}
		}
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !a.IsNil() && !b.IsNil() {
			shared = sharedBetween(a.Elem(), b.Elem(), path)
		}
	case reflect.Slice:
		for i := range a.Len() {
			shared = append(shared, sharedBetween(a.Index(i), b.Index(i), path+"["+strconv.Itoa(i)+"]")...)
		}
	case reflect.Map:
		for _, k := range a.MapKeys() {
			shared = append(shared, sharedBetween(a.MapIndex(k), b.MapIndex(k), path+"{}")...)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			shared = append(shared, sharedBetween(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)...)
		}
	}
	return shared
}

// TestCloneSharesNothing: of every kind of document, filled to the brim, a
// clone is equal and shares nothing. The library's own does not keep that up.
func TestCloneSharesNothing(t *testing.T) {
	upstream := 0
	for id, doc := range everyKind(t) {
		fill(reflect.ValueOf(doc).Elem(), nil)
		upstream += len(sharedBetween(reflect.ValueOf(doc), reflect.ValueOf(doc.Clone()), ""))
		copied := clone(doc)
		if shared := sharedBetween(reflect.ValueOf(doc), reflect.ValueOf(copied), ""); len(shared) > 0 {
			t.Errorf("%s shares\n%s", id, strings.Join(shared, "\n"))
		}
		if !reflect.DeepEqual(doc, copied) {
			t.Errorf("%s: the clone is another document", id)
		}
	}
	if upstream == 0 {
		t.Error("the library's Clone shares nothing any more: clone.go can go")
	}
}
