package addon

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// helmValues copies values and gives them the types that charts are written
// for: Helm reads every number as a float.
func helmValues(values map[string]any) (map[string]any, error) {
	value, err := manifest.Normalize(values)
	if err != nil {
		return nil, err
	}
	result, _ := floats(value).(map[string]any)
	if result == nil {
		result = map[string]any{}
	}
	return result, nil
}

func floats(value any) any {
	switch v := value.(type) {
	case int64:
		return float64(v)
	case map[string]any:
		for key, item := range v {
			v[key] = floats(item)
		}
	case []any:
		for i, item := range v {
			v[i] = floats(item)
		}
	}
	return value
}

// plain replaces the map types of Helm by those of JSON.
func plain(value any) any {
	if m, ok := asMap(value); ok {
		result := make(map[string]any, len(m))
		for key, item := range m {
			result[key] = plain(item)
		}
		return result
	}
	if list, ok := value.([]any); ok {
		result := make([]any, len(list))
		for i, item := range list {
			result[i] = plain(item)
		}
		return result
	}
	return value
}

func asMap(value any) (map[string]any, bool) {
	switch v := value.(type) {
	case map[string]any:
		return v, true
	case common.Values:
		return v, true
	}
	return nil, false
}

// unknownValues finds keys that the chart does not have: neither in its
// values.yaml, nor in its schema, nor as a word in its templates. Helm ignores
// them without a word.
func (c *chart) unknownValues(given map[string]any) []Warning {
	u := unknown{chart: c}
	u.check(c.Chart, given, c.Values, nil)
	return u.warnings
}

type unknown struct {
	chart    *chart
	warnings []Warning
	words    map[string]bool // of all templates
}

func (u *unknown) check(at *chartv2.Chart, given, defaults map[string]any, path []string) {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		here := append(slices.Clone(path), key)
		known, found := defaults[key]
		if sub := subchart(at, key); sub != nil && len(path) == chartDepth(at) {
			if inner, ok := asMap(given[key]); ok {
				u.check(sub, inner, mergedDefaults(sub.Values, known), here)
			}
			continue
		}
		switch inner, isMap := asMap(given[key]); {
		case key == common.GlobalKey && len(path) == chartDepth(at), key == "tags" && len(path) == 0:
		case !found && freeForm.MatchString(key):
		case !found && !u.used(key):
			u.add(here, defaults)
		case isMap && found:
			if next, ok := asMap(known); ok && len(next) > 0 {
				u.check(at, inner, next, here)
			} else if known != nil && !ok {
				u.warnings = append(u.warnings, Warning{Values: here,
					Message: fmt.Sprintf("%s is a map, but %s in the chart %s", strings.Join(here, "."), kindName(known), u.chart.Name())})
			}
		case !isMap && given[key] != nil && found:
			if next, ok := asMap(known); ok && len(next) > 0 {
				u.warnings = append(u.warnings, Warning{Values: here,
					Message: fmt.Sprintf("%s is %s, but a map in the chart %s", strings.Join(here, "."), kindName(given[key]), u.chart.Name())})
			}
		}
	}
}

func (u *unknown) add(path []string, defaults map[string]any) {
	w := Warning{Values: path, Message: fmt.Sprintf("the chart %s %s has no value %s", u.chart.Name(), u.chart.Metadata.Version, strings.Join(path, "."))}
	w.Hint = diag.Suggest(path[len(path)-1], slices.Sorted(maps.Keys(defaults)))
	u.warnings = append(u.warnings, w)
}

// freeForm are keys that name no setting: labels of nodes, variables of
// containers. Where they stand, a default is no list of all that there are.
var freeForm = regexp.MustCompile(`[./]|^[A-Z][A-Z0-9_]*$`)

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_-]*`)

// used tells whether a key is a word of the templates or the schema, so that
// the chart may well use it without a default.
func (u *unknown) used(key string) bool {
	if u.words == nil {
		u.words = map[string]bool{}
		u.collect(u.chart.Chart)
	}
	return u.words[key]
}

func (u *unknown) collect(at *chartv2.Chart) {
	for _, w := range word.FindAll(at.Schema, -1) {
		u.words[string(w)] = true
	}
	for _, t := range at.Templates {
		for _, w := range word.FindAll(t.Data, -1) {
			u.words[string(w)] = true
		}
	}
	for _, d := range at.Metadata.Dependencies {
		for _, condition := range strings.FieldsFunc(d.Condition, func(r rune) bool { return r == ',' || r == '.' }) {
			u.words[strings.TrimSpace(condition)] = true
		}
	}
	for _, sub := range at.Dependencies() {
		u.collect(sub)
	}
}

// subchart finds the chart that a key of the values is for.
func subchart(at *chartv2.Chart, key string) *chartv2.Chart {
	name := key
	for _, d := range at.Metadata.Dependencies {
		if d != nil && d.Alias == key {
			name = d.Name
		}
	}
	for _, sub := range at.Dependencies() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}

// chartDepth is how deep in the values those of a chart begin.
func chartDepth(at *chartv2.Chart) int {
	depth := 0
	for !at.IsRoot() {
		depth++
		at = at.Parent()
	}
	return depth
}

// mergedDefaults are the defaults of a subchart and those that its parent has
// for it.
func mergedDefaults(own map[string]any, fromParent any) map[string]any {
	parent, _ := asMap(fromParent)
	result := maps.Clone(own)
	if result == nil {
		result = map[string]any{}
	}
	for key, value := range parent {
		inner, isMap := asMap(value)
		if _, both := asMap(result[key]); isMap && both {
			result[key] = mergedDefaults(result[key].(map[string]any), inner)
		} else {
			result[key] = value
		}
	}
	return result
}

func kindName(value any) string {
	switch value.(type) {
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case float64, int64:
		return "a number"
	case []any:
		return "a list"
	}
	return "a map"
}
