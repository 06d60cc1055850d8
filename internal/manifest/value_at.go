package manifest

import "maps"

// Value returns what is below a path of keys, or nil.
func (o Object) Value(path ...string) any {
	var value any = map[string]any(o)
	for _, key := range path {
		switch m := value.(type) {
		case map[string]any:
			value = m[key]
		case Object:
			value = m[key]
		default:
			return nil
		}
	}
	return value
}

// Text returns the text below a path of keys, or "".
func (o Object) Text(path ...string) string {
	text, _ := o.Value(path...).(string)
	return text
}

// Map returns the map below a path of keys, or nil.
func (o Object) Map(path ...string) map[string]any {
	switch m := o.Value(path...).(type) {
	case map[string]any:
		return m
	case Object:
		return m
	}
	return nil
}

// List returns the list below a path of keys, or nil.
func (o Object) List(path ...string) []any {
	list, _ := o.Value(path...).([]any)
	return list
}

// IsSecret reports whether it is a Secret of Kubernetes.
func (o Object) IsSecret() bool { return o.APIVersion() == "v1" && o.Kind() == "Secret" }

// WithMetadata is the object with other metadata. The object itself stays as it
// is.
func (o Object) WithMetadata(metadata map[string]any) Object {
	out := maps.Clone(o)
	out["metadata"] = metadata
	return out
}
