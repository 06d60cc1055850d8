package machine

import (
	"reflect"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// field is a field of one of the library's structs.
type field struct {
	reflect.Type
	index   []int
	replace bool // a merge takes the patch's value in place of what is there
}

var knownFields sync.Map // reflect.Type → map[string]field

// fieldsOf returns a struct's fields by their YAML keys, seen through pointers,
// lists and embedded structs.
func fieldsOf(t reflect.Type) map[string]field {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	if known, ok := knownFields.Load(t); ok {
		return known.(map[string]field) // only these are stored
	}
	fields := map[string]field{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(options, "inline"):
			for key, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				fields[key] = inner
			}
		case name == "-" || !f.IsExported():
		case f.Tag.Get("yaml") == "":
			fields[strings.ToLower(f.Name)] = field{f.Type, []int{i}, false}
		case name != "":
			fields[name] = field{f.Type, []int{i}, f.Tag.Get("merge") == "replace"}
		}
	}
	knownFields.Store(t, fields)
	return fields
}

// replacedAt returns the path of the field that Talos' merge replaces whole, if
// the path leads into one, and else the path itself.
func (d *Document) replacedAt(path yamltext.Path) yamltext.Path {
	if d.typed == nil {
		return path
	}
	t := reflect.TypeOf(d.typed)
	for i, e := range path {
		f, ok := fieldsOf(t)[e.Key]
		if !ok || e.Index >= 0 {
			break
		}
		if f.replace {
			return path[:i+1]
		}
		t = f.Type
	}
	return path
}
