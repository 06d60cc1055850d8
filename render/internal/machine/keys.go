package machine

import (
	"reflect"
	"slices"
	"strings"
)

// siblingKeys returns the keys that a document's type has where the last key
// of the path stands, for suggestions.
func siblingKeys(id ID, path []string) []string {
	doc, err := newTyped(id)
	if err != nil {
		return nil
	}
	t := reflect.TypeOf(doc)
	for _, key := range path[:len(path)-1] {
		if t = fieldTypes(t)[key]; t == nil {
			return nil
		}
	}
	var keys []string
	for key := range fieldTypes(t) {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// fieldTypes returns the types of a struct's fields by their YAML keys, seen
// through pointers, lists and embedded structs.
func fieldTypes(t reflect.Type) map[string]reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(options, "inline"):
			for key, inner := range fieldTypes(f.Type) {
				fields[key] = inner
			}
		case name != "" && name != "-" && f.IsExported():
			fields[name] = f.Type
		}
	}
	return fields
}
