package addons

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/explain"
)

// Explain names, for every value of an addon at or below a path, the layers that
// set it. The chart's own values, which lie below all of them, are left out.
func Explain(in Input, name, path string) ([]explain.Value, error) {
	b := newBuilder(context.Background(), in)
	v, other := b.secrets.real(), b.secrets.other()
	if err := b.secrets.addAutoscaled(v, other); err != nil {
		return nil, err
	}
	all, err := allAddons(b.secrets.facts(v))
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(a catalogue.Addon) bool { return a.Name == name })
	if i < 0 {
		return nil, noSuchAddon(in.Model.Env, name, all)
	}
	values, err := b.reader.values(all[i], v)
	if err != nil {
		return nil, err
	}
	others, err := b.reader.values(all[i], other)
	if err != nil {
		return nil, err
	}
	return explainValues(name, path, values, others, b.withoutOptions(name, v))
}

func noSuchAddon(env, name string, all []catalogue.Addon) *diag.Problem {
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	hint := diag.Suggest(name, names)
	if hint == "" {
		hint = "addons: " + strings.Join(names, ", ")
	}
	return diag.On("environment "+env, "has no addon %q", name).WithHint("%s", hint).WithCode(diag.Usage)
}

// explainValues lists the leaves of merged values. What differs with other
// secrets is secret.
func explainValues(name, path string, values, other *addonValues, options []withoutOption) ([]explain.Value, error) {
	var all []explain.Value
	var names []string
	for _, leaf := range leavesOf(values.merged, nil) {
		text := leaf.path.String()
		names = append(names, text)
		if !explain.Below(text, path) {
			continue
		}
		x := explain.Value{Document: explain.ValuesDocument, Path: text, Secret: !same(leaf.value, lookup(other.merged, leaf.path))}
		for i, l := range values.layers {
			value := lookup(l.values, leaf.path)
			if value == nil {
				continue
			}
			x.Secret = x.Secret || l.encrypted
			hidden := l.encrypted || !same(value, lookup(other.layers[i].values, leaf.path))
			if l.doc == nil {
				x.Origins = append(x.Origins, ownOrigins(value, leaf.path, options, hidden)...)
				continue
			}
			pos := l.pos
			if found := l.find(keysOf(leaf.path)); found.File != "" {
				pos = found
			}
			x.Origins = append(x.Origins, explain.Origin{Layer: l.name, File: pos.File, Line: pos.Line, Value: printValue(value, hidden)})
		}
		x.Value = printValue(leaf.value, x.Secret)
		all = append(all, x)
	}
	if len(all) == 0 {
		return nil, diag.On("addon "+name, "has no value at %q but those of its chart", path).
			WithHint("%s", explain.Near(path, names)).WithCode(diag.Usage)
	}
	return all, nil
}

// valueLeaf is a scalar, or an empty collection, among values.
type valueLeaf struct {
	path  yamltext.Path
	value any
}

// leavesOf lists leaves in the order of their keys.
func leavesOf(value any, at yamltext.Path) (all []valueLeaf) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, leavesOf(v[key], append(slices.Clone(at), yamltext.Key(key)))...)
		}
	case []any:
		for i, item := range v {
			all = append(all, leavesOf(item, append(slices.Clone(at), yamltext.Index(i)))...)
		}
	}
	if len(all) == 0 && len(at) > 0 {
		all = []valueLeaf{{at, value}}
	}
	return all
}

// lookup follows a path; nil if it leads nowhere.
func lookup(value any, path yamltext.Path) any {
	for _, e := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[e.Key]
		case []any:
			if e.Index < 0 || e.Index >= len(v) {
				return nil
			}
			value = v[e.Index]
		default:
			return nil
		}
	}
	return value
}

// keysOf is a path as keys, indexes among them.
func keysOf(path yamltext.Path) []string {
	var keys []string
	for _, e := range path {
		if e.Index >= 0 {
			keys = append(keys, strconv.Itoa(e.Index))
		} else {
			keys = append(keys, e.Key)
		}
	}
	return keys
}

func same(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// printValue is a value on one line, masked if it is secret.
func printValue(value any, hidden bool) string {
	if hidden {
		return secret.Mask
	}
	if text, ok := value.(string); ok {
		return text
	}
	text, err := yaml.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(string(text))
}
