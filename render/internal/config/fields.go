package config

import (
	"cmp"
	"reflect"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/internal/diag"
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

// keyHint says which key may have been meant.
func keyHint(key string, t reflect.Type) string {
	keys := keysOf(t)
	return cmp.Or(diag.Suggest(key, keys), "known keys: "+strings.Join(keys, ", "))
}

func exampleHint(f reflect.StructField) string {
	if example := f.Tag.Get("example"); example != "" {
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
