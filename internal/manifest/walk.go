package manifest

// Section follows keys through maps. It returns nil where there is none, which
// may be asked for keys too.
func Section(m map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		m, _ = m[key].(map[string]any)
	}
	return m
}

// Text returns a value that is a text; else the empty one.
func Text(v any) string {
	s, _ := v.(string)
	return s
}

// Texts returns the items of a list as [Text] does.
func Texts(v any) (all []string) {
	list, _ := v.([]any)
	for _, item := range list {
		all = append(all, Text(item))
	}
	return all
}

// Maps returns the items of a list, each at its place; nil for one that is no
// map.
func Maps(v any) []map[string]any {
	list, _ := v.([]any)
	all := make([]map[string]any, len(list))
	for i, item := range list {
		all[i], _ = item.(map[string]any)
	}
	return all
}
