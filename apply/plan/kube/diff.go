package kube

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/secret"
)

// Field is a difference. Values that may be secret are masked; a field that is
// only on one side has no text on the other.
type Field struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// server are the fields that the API server keeps, below metadata.
var server = []string{"managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"}

// counter is what the API server counts up when a DaemonSet changes.
const counter = "deprecated.daemonset.template.generation"

// lastApplied is where kubectl keeps a copy of an object, Secrets included.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Diff says how an object differs from another one of the same name, besides
// its status and what the API server keeps.
func Diff(from, to Object) []Field {
	d := differ{secret: from.IsSecret() || to.IsSecret()}
	d.values("", shown(from), shown(to))
	return d.fields
}

// shown is what of an object is compared.
func shown(o Object) map[string]any {
	metadata := maps.Clone(o.Map("metadata"))
	for _, name := range server {
		delete(metadata, name)
	}
	if annotations := o.Map("metadata", "annotations"); annotations[counter] != nil {
		annotations = maps.Clone(annotations)
		delete(annotations, counter)
		metadata["annotations"] = annotations
	}
	out := maps.Clone(map[string]any(o))
	out["metadata"] = metadata
	delete(out, "status")
	return out
}

type differ struct {
	secret bool
	fields []Field
}

func (d *differ) values(path string, from, to any) {
	if reflect.DeepEqual(from, to) {
		return
	}
	fromMap, isFrom := from.(map[string]any)
	toMap, isTo := to.(map[string]any)
	if isFrom && isTo || splits(path) && (isFrom && to == nil || isTo && from == nil) {
		d.maps(path, fromMap, toMap)
		return
	}
	fromList, isFrom := from.([]any)
	toList, isTo := to.([]any)
	if isFrom && isTo && d.lists(path, fromList, toList) {
		return
	}
	d.fields = append(d.fields, Field{Path: path, From: d.text(path, from), To: d.text(path, to)})
}

// splits reports whether a map is shown key by key even if it is new or gone.
func splits(path string) bool {
	return slices.Contains([]string{"metadata", "metadata.labels", "metadata.annotations", "data", "stringData"}, path)
}

func (d *differ) maps(path string, from, to map[string]any) {
	keys := slices.Collect(maps.Keys(from))
	for k := range to {
		if _, both := from[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		d.values(below(path, k), from[k], to[k])
	}
}

// below is the path of a key. A key that would look like several is quoted.
func below(path, key string) string {
	if strings.ContainsAny(key, "./[") {
		return fmt.Sprintf("%s[%q]", path, key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// lists compares lists whose elements have names, by name, and others by place
// if they are of the same length. It reports whether it could.
func (d *differ) lists(path string, from, to []any) bool {
	fromNames, ok1 := names(from)
	toNames, ok2 := names(to)
	if !ok1 || !ok2 {
		if len(from) != len(to) {
			return false
		}
		for i := range from {
			d.values(fmt.Sprintf("%s[%d]", path, i), from[i], to[i])
		}
		return true
	}
	for i, name := range fromNames {
		var other any
		if j := slices.Index(toNames, name); j >= 0 {
			other = to[j]
		}
		d.values(path+"["+name+"]", from[i], other)
	}
	for j, name := range toNames {
		if !slices.Contains(fromNames, name) {
			d.values(path+"["+name+"]", nil, to[j])
		}
	}
	return true
}

// names are the names of a list's elements, if all have one of their own.
func names(list []any) (all []string, ok bool) {
	for _, e := range list {
		m, _ := e.(map[string]any)
		name, _ := m["name"].(string)
		if name == "" || slices.Contains(all, name) {
			return nil, false
		}
		all = append(all, name)
	}
	return all, true
}

// longest is how much of a value is shown.
const longest = 120

// text shows a value.
func (d *differ) text(path string, v any) string {
	if v == nil {
		return ""
	}
	if d.hides(path) {
		return secret.Mask
	}
	text, isText := v.(string)
	if !isText {
		data, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprintf("%T", v)
		}
		text = string(data)
	}
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	if text == "" {
		return `""`
	}
	return text
}

// hides reports whether a value must not be shown: all of a Secret but what
// everything has, and kubectl's copy of an object.
func (d *differ) hides(path string) bool {
	if strings.Contains(path, lastApplied) {
		return true
	}
	if !d.secret {
		return false
	}
	for _, open := range []string{"type", "immutable", "metadata.labels", "metadata.ownerReferences", "metadata.finalizers"} {
		if path == open || strings.HasPrefix(path, open+".") || strings.HasPrefix(path, open+"[") {
			return false
		}
	}
	return true
}
