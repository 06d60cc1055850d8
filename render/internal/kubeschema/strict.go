package kubeschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/talosgen/talosgen/internal/manifest"
)

// strict decodes an object into its type.
func (s *Schemas) strict(gvk schema.GroupVersionKind, o manifest.Object, typed any) (faults []Fault) {
	text, err := json.Marshal(o)
	if err != nil {
		return []Fault{{Text: err.Error()}}
	}
	unknown, err := kjson.UnmarshalStrict(text, typed, kjson.DisallowUnknownFields)
	for _, u := range unknown {
		path, _ := strings.CutPrefix(u.Error(), "unknown field ")
		faults = append(faults, Fault{Path: strings.Trim(path, `"`), Text: "there is no such field"})
	}
	if err == nil {
		return faults
	}
	values := s.misfits(gvk, map[string]any(o), nil)
	if len(values) == 0 {
		values = []Fault{{Text: err.Error()}}
	}
	return append(faults, values...)
}

// step is a key or an index on the way to a value.
type step struct {
	key   string
	index int // of a list, where there is no key
}

// misfits finds every value that does not fit its field. The decoder tells of
// the first one only, and not always where it is: so each value is tried alone.
func (s *Schemas) misfits(gvk schema.GroupVersionKind, value any, at []step) (faults []Fault) {
	at = slices.Clip(at)
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 {
			return s.misfit(gvk, v, at)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			faults = append(faults, s.misfits(gvk, v[key], append(at, step{key: key}))...)
		}
		return faults
	case []any:
		if len(v) == 0 {
			return s.misfit(gvk, v, at)
		}
		for i, item := range v {
			faults = append(faults, s.misfits(gvk, item, append(at, step{index: i}))...)
		}
		return faults
	}
	return s.misfit(gvk, value, at)
}

// misfit tries an object with one value alone.
func (s *Schemas) misfit(gvk schema.GroupVersionKind, value any, at []step) []Fault {
	typed, err := s.builtin.New(gvk)
	if err != nil {
		return []Fault{{Text: err.Error()}}
	}
	alone := value
	for _, st := range slices.Backward(at) {
		if st.key != "" {
			alone = map[string]any{st.key: alone}
		} else {
			alone = []any{alone}
		}
	}
	text, err := json.Marshal(alone)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(text, typed)
	}
	if err == nil {
		return nil
	}
	return []Fault{{Path: pathOf(at), Text: plainly(err.Error())}}
}

func pathOf(at []step) string {
	var b strings.Builder
	for _, st := range at {
		switch {
		case st.key == "":
			fmt.Fprintf(&b, "[%d]", st.index)
		case b.Len() == 0:
			b.WriteString(st.key)
		default:
			b.WriteString("." + st.key)
		}
	}
	return b.String()
}

// plainly says an error of the JSON decoder in the words of YAML: json: cannot
// unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32.
func plainly(message string) string {
	what, rest, found := strings.Cut(strings.TrimPrefix(message, "json: cannot unmarshal "), " into Go ")
	if !found {
		return message
	}
	kind := rest[strings.LastIndex(rest, " ")+1:]
	return fmt.Sprintf("%s stands where %s is expected", plainType(what), plainType(kind))
}

// plainType says a type of Go or of JSON in the words of YAML.
func plainType(kind string) string {
	switch {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "a whole number"
	case strings.HasPrefix(kind, "number"):
		return "a number"
	case kind == "bool":
		return "true or false"
	case kind == "string":
		return "a text"
	case kind == "array", strings.HasPrefix(kind, "[]"):
		return "a list"
	}
	return "a map"
}
