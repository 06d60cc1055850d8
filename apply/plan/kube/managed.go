package kube

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// Entry is who set which fields of an object, as metadata.managedFields has it.
type Entry struct {
	Manager     string
	Operation   string // Apply or Update
	Subresource string
	fields      map[string]any
}

// Entries are the entries of an object.
func Entries(o Object) (entries []Entry) {
	for _, e := range o.List("metadata", "managedFields") {
		m, _ := e.(map[string]any)
		entry := Object(m)
		entries = append(entries, Entry{
			Manager: entry.Text("manager"), Operation: entry.Text("operation"), Subresource: entry.Text("subresource"),
			fields: entry.Map("fieldsV1"),
		})
	}
	return entries
}

const (
	applyOperation = "Apply"
	fieldPrefix    = "f:" // of a map
	keyPrefix      = "k:" // an element of a list, by its keys
	valuePrefix    = "v:" // an element of a set
	self           = "."
)

// applied are the fields that a manager applied, and whether it applied any.
func applied(live Object, manager string) (fields map[string]any, found bool) {
	for _, e := range Entries(live) {
		if e.Manager == manager && e.Operation == applyOperation && e.Subresource == "" {
			return e.fields, true
		}
	}
	return nil, false
}

// Applied reports whether it is certain, from what the API says of fields alone,
// that to apply the object would change nothing: the manager owns exactly the
// fields that the object has, and their values are the same. False means that
// the API has to be asked.
func Applied(live, send Object, manager string) bool {
	fields, found := applied(live, manager)
	if live.APIVersion() != send.APIVersion() {
		return false
	}
	content := map[string]any{}
	for k, v := range send {
		if k != "apiVersion" && k != "kind" {
			content[k] = v
		}
	}
	metadata := map[string]any{}
	for k, v := range send.Map("metadata") {
		if k != "name" && k != "namespace" {
			metadata[k] = v
		}
	}
	content["metadata"] = metadata
	if len(metadata) == 0 {
		delete(content, "metadata")
	}
	if len(content) == 0 {
		return !found // an object without content, such as a ServiceAccount, leaves no entry
	}
	return found && sameFields(fields, content, map[string]any(live))
}

// sameFields reports whether a set of fields is exactly what a value has, and
// all of it has the same value in the live object.
func sameFields(fields map[string]any, want, live any) bool {
	inner := 0
	for name := range fields {
		if name != self {
			inner++
		}
	}
	if inner == 0 {
		return reflect.DeepEqual(want, live)
	}
	switch w := want.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		return ok && sameMap(fields, w, l)
	case []any:
		l, ok := live.([]any)
		return ok && len(w) == inner && sameList(fields, w, l)
	}
	return false
}

func sameMap(fields, want, live map[string]any) bool {
	for name, below := range fields {
		if name == self {
			continue
		}
		key, isField := strings.CutPrefix(name, fieldPrefix)
		w, isThere := want[key]
		l, isLive := live[key]
		inner, _ := below.(map[string]any)
		if !isField || !isThere || !isLive || !sameFields(inner, w, l) {
			return false
		}
	}
	for key := range want {
		if _, owned := fields[fieldPrefix+key]; !owned {
			return false
		}
	}
	return true
}

// sameList compares a list whose elements have keys, or are a set. Their order
// counts where it may mean something: it does for lists with keys.
func sameList(fields map[string]any, want, live []any) bool {
	var places []int
	for _, w := range want {
		name, at := element(fields, w, live)
		if at < 0 {
			return false
		}
		inner, _ := fields[name].(map[string]any)
		if strings.HasPrefix(name, keyPrefix) && !sameFields(inner, w, live[at]) {
			return false
		}
		places = append(places, at)
	}
	return slices.IsSorted(places)
}

// element finds the field that names an element of a list, and where that
// element is in the live object; -1 if it is not there.
func element(fields map[string]any, want any, live []any) (name string, at int) {
	for name := range fields {
		switch text := name; {
		case strings.HasPrefix(text, keyPrefix):
			var keys map[string]any
			if json.Unmarshal([]byte(text[len(keyPrefix):]), &keys) == nil && hasKeys(want, keys) {
				return name, slices.IndexFunc(live, func(l any) bool { return hasKeys(l, keys) })
			}
		case strings.HasPrefix(text, valuePrefix):
			var value any
			if json.Unmarshal([]byte(text[len(valuePrefix):]), &value) == nil && reflect.DeepEqual(plainNumber(value), plainNumber(want)) {
				return name, slices.IndexFunc(live, func(l any) bool { return reflect.DeepEqual(l, want) })
			}
		}
	}
	return "", -1
}

func hasKeys(element any, keys map[string]any) bool {
	m, ok := element.(map[string]any)
	if !ok {
		return false
	}
	for k, v := range keys {
		if !reflect.DeepEqual(plainNumber(m[k]), plainNumber(v)) {
			return false
		}
	}
	return true
}

// plainNumber makes numbers comparable, however they were read.
func plainNumber(v any) any {
	switch n := v.(type) {
	case int64:
		return float64(n)
	case int:
		return float64(n)
	}
	return v
}
