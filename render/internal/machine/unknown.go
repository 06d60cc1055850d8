package machine

import (
	"reflect"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// unknownKeys finds the keys of a document that its type does not have. The
// library's own check says that there are some; its message has no places, and
// repeats the values.
func unknownKeys(file string, id ID, doc config.Document, root *yaml.Node) error {
	f := keyFinder{file: file, id: id}
	f.walk(reflect.TypeOf(doc), root, nil)
	if len(f.problems) == 0 {
		f.problems.Add(diag.New(nodePos(file, root), "%s has keys that Talos does not know", id))
	}
	return f.problems.Err()
}

type keyFinder struct {
	file     string
	id       ID
	problems diag.List
}

func (f *keyFinder) walk(t reflect.Type, n *yaml.Node, path []string) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			f.walk(t.Elem(), item, path)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			f.walk(t.Elem(), n.Content[i+1], append(path[:len(path):len(path)], n.Content[i].Value))
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct && !isFreeForm(t):
		fields := fieldsOf(t)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			below := append(path[:len(path):len(path)], key.Value)
			if known, ok := fields[key.Value]; ok {
				f.walk(known.Type, n.Content[i+1], below)
				continue
			}
			f.problems.Add(f.problem(key, below, sortedKeys(fields)))
		}
	}
}

// isFreeForm reports whether a struct holds any keys, in a map.
func isFreeForm(t reflect.Type) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		if _, options, _ := strings.Cut(f.Tag.Get("yaml"), ","); f.Type.Kind() == reflect.Map && strings.Contains(options, "inline") {
			return true
		}
	}
	return false
}

func (f *keyFinder) problem(at *yaml.Node, path, siblings []string) *diag.Problem {
	p := diag.New(nodePos(f.file, at), "unknown key %q in %s", strings.Join(path, "."), f.id)
	if hint := diag.Suggest(path[len(path)-1], siblings); hint != "" {
		p.WithHint("%s", hint)
	} else if f.id.IsMain() && len(path) == 1 {
		p.WithHint("a patch for the main document starts with machine: or cluster:; other documents need apiVersion and kind")
	}
	return p
}
