package machine

import (
	"reflect"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// checkKeys finds what a document holds that its type has no place for, as
// Talos' loader does: keys that the type does not have, null entries of lists
// and maps whose items are structs, and collections where there can be none. It
// gives their places; the library's own check (siderolabs/gen/xyaml) has none,
// and its messages repeat the values.
func checkKeys(file string, id ID, t reflect.Type, root *yaml.Node) error {
	c := keyChecker{file: file, id: id}
	c.check(t, root, nil)
	return c.problems.Err()
}

type keyChecker struct {
	file     string
	id       ID
	problems diag.List
}

func (c *keyChecker) check(t reflect.Type, n *yaml.Node, path yamltext.Path) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.ScalarNode || t.Kind() == reflect.Interface:
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for i, item := range n.Content {
			c.entry(t.Elem(), item, append(path[:len(path):len(path)], yamltext.Index(i)))
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].ShortTag() == "!!merge" && text(t.Elem()) {
				c.problems.Add(diag.New(nodePos(c.file, n.Content[i]), "a merge key (<<) in %s, where Talos takes none: its keys are free", path).
					WithHint("repeat the keys, or use an alias for the whole map"))
				continue
			}
			c.entry(t.Elem(), n.Content[i+1], append(path[:len(path):len(path)], yamltext.Key(n.Content[i].Value)))
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		c.mapping(t, n, path)
	case !unmarshals(t):
		c.problems.Add(diag.New(nodePos(c.file, n), "%s where %s is expected", describeNode(n), goTypeName(t.String())))
	}
}

// text tells whether a type holds texts: maps of these take no merge keys, as
// Talos reads the mapping that is merged for the value of a key <<.
func text(t reflect.Type) bool { return t.Kind() == reflect.String }

// entry checks an entry of a list or a map.
func (c *keyChecker) entry(t reflect.Type, n *yaml.Node, path yamltext.Path) {
	value := n
	if n.Kind == yaml.AliasNode {
		value = n.Alias
	}
	if t.Kind() == reflect.Pointer && value.Kind == yaml.ScalarNode && value.ShortTag() == "!!null" {
		c.problems.Add(diag.New(nodePos(c.file, n), "%s is null", path).
			WithHint("write what it should be, or leave it out"))
		return
	}
	c.check(t, n, path)
}

func (c *keyChecker) mapping(t reflect.Type, n *yaml.Node, path yamltext.Path) {
	if free := freeForm(t); free != nil {
		c.check(free, n, path)
		return
	}
	fields := fieldsOf(t)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		below := append(path[:len(path):len(path)], yamltext.Key(key.Value))
		if known, ok := fields[key.Value]; ok {
			c.check(known.Type, n.Content[i+1], below)
			continue
		}
		c.problems.Add(c.unknown(key, below, fields))
	}
}

func (c *keyChecker) unknown(at *yaml.Node, path yamltext.Path, siblings map[string]field) *diag.Problem {
	p := diag.New(nodePos(c.file, at), "unknown key %q in %s", path.String(), c.id)
	if hint := diag.Suggest(path[len(path)-1].Key, sortedKeys(siblings)); hint != "" {
		p.WithHint("%s", hint)
	} else if c.id.IsMain() && len(path) == 1 {
		p.WithHint("a patch for the main document starts with machine: or cluster:; other documents need apiVersion and kind")
	}
	return p
}

// freeForm returns the type of the map that a struct holds any keys in, or nil.
func freeForm(t reflect.Type) reflect.Type {
	for i := range t.NumField() {
		f := t.Field(i)
		if _, options, _ := strings.Cut(f.Tag.Get("yaml"), ","); f.Type.Kind() == reflect.Map && strings.Contains(options, "inline") {
			return f.Type
		}
	}
	return nil
}

// oldUnmarshaler is the form of yaml.Unmarshaler that most of Talos' types have.
type oldUnmarshaler interface {
	UnmarshalYAML(unmarshal func(any) error) error
}

var (
	unmarshalers = []reflect.Type{reflect.TypeFor[yaml.Unmarshaler](), reflect.TypeFor[oldUnmarshaler]()}
	ownDecoders  sync.Map // reflect.Type → bool
)

// unmarshals reports whether a type decodes YAML itself, and so may take any.
func unmarshals(t reflect.Type) bool {
	if known, ok := ownDecoders.Load(t); ok {
		return known.(bool) // only these are stored
	}
	found := false
	for _, u := range unmarshalers {
		found = found || t.Implements(u) || reflect.PointerTo(t).Implements(u)
	}
	ownDecoders.Store(t, found)
	return found
}
