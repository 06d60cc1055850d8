package config

import (
	"reflect"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// fieldLists are what fieldsOf found out: there are few types and many values.
var fieldLists sync.Map

// fieldsOf lists the fields of a struct that are keys, those of embedded
// structs included.
func fieldsOf(t reflect.Type) []reflect.StructField {
	if known, ok := fieldLists.Load(t); ok {
		return known.([]reflect.StructField)
	}
	var fields []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			fields = append(fields, f)
		}
	}
	fieldLists.Store(t, fields)
	return fields
}

func fieldOf(t reflect.Type, key string) (reflect.StructField, bool) {
	fields := fieldsOf(t)
	for i := range fields {
		if fields[i].Tag.Get("yaml") == key {
			return fields[i], true
		}
	}
	return reflect.StructField{}, false
}

func keysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range fieldsOf(t) {
		keys = append(keys, f.Tag.Get("yaml"))
	}
	return keys
}

// keyHint says which key may have been meant, or where a key of that name goes.
func keyHint(key string, t reflect.Type) string {
	keys := keysOf(t)
	if hint := diag.Suggest(key, keys); hint != "" {
		return hint
	}
	hint := "known keys: " + strings.Join(keys, ", ")
	if paths := pathsOf(key, reflect.TypeFor[schemas.Cluster](), nil); len(paths) > 0 && len(paths) <= mostPaths {
		sorting.By(paths, func(a, b string) int { return strings.Count(a, ".") - strings.Count(b, ".") })
		hint = "it goes elsewhere: " + strings.Join(paths, ", or ") + "\n" + hint
	}
	return hint
}

// mostPaths is how many paths a key may have for all of them to be told: one
// with more, such as enabled, was meant to be in this one.
const mostPaths = 2

// pathsOf are the paths of a key in a type, as people write them.
func pathsOf(key string, t reflect.Type, path []string) (paths []string) {
	suffix := ""
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		switch t.Kind() {
		case reflect.Slice:
			suffix = "[]"
		case reflect.Map:
			suffix = ".<name>"
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || len(path) > mostDeep {
		return nil
	}
	if len(path) > 0 {
		path = append(path[:len(path)-1:len(path)-1], path[len(path)-1]+suffix)
	}
	for _, f := range fieldsOf(t) {
		name := f.Tag.Get("yaml")
		if name == "" {
			continue
		}
		below := append(path[:len(path):len(path)], name)
		if name == key {
			paths = append(paths, strings.Join(below, "."))
		}
		paths = append(paths, pathsOf(key, f.Type, below)...)
	}
	return paths
}

// mostDeep is deeper than cluster.yaml is.
const mostDeep = 8

func exampleHint(f reflect.StructField) string {
	if example, _ := schemas.Tag(f.Tag, "example"); example != "" {
		return "for example " + f.Tag.Get("yaml") + ": " + example
	}
	return ""
}

func requiredHint(f reflect.StructField) string {
	if f.Type.Kind() == reflect.Struct {
		return "its keys: " + strings.Join(keysOf(f.Type), ", ")
	}
	return exampleHint(f)
}

// display writes a path as people do: nodes.workers.nodepools[0].count.
func display(path []string) string {
	if len(path) == 0 {
		return "cluster.yaml"
	}
	var b strings.Builder
	for i, element := range path {
		switch {
		case element != "" && strings.Trim(element, "0123456789") == "":
			b.WriteString("[" + element + "]")
		case i > 0:
			b.WriteString("." + element)
		default:
			b.WriteString(element)
		}
	}
	return b.String()
}

// in names the object that a key is in, except for the file itself.
func in(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return " in " + display(path)
}
