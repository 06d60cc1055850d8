package generate

import (
	"math/rand/v2"
	"reflect"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
)

// Split divides a cluster.yaml at random into a base and what is laid over it: keys are in
// one of the two or in both, lists in two parts, items that are known by a name too. The
// base has values that the other file replaces, and items that it takes away. The name is
// where the base is, as the other file says it.
func Split(text, name string, seed uint64) (base, over string) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		panic(err) // a generated file is YAML
	}
	s := splitter{rand.New(rand.NewPCG(seed, 21))}
	below, above := s.mapping(doc.Content[0], reflect.TypeFor[schemas.Cluster]())
	if len(below.Content) == 0 {
		below = mappingOf(scalarOf("apiVersion"), scalarOf(schemas.ClusterVersion))
	}
	above.Content = append([]*yaml.Node{scalarOf(schemas.BaseKey), scalarOf(name)}, above.Content...)
	return encode(below), encode(above)
}

type splitter struct{ *rand.Rand }

func mappingOf(content ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: content}
}

func scalarOf(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// mapping divides a mapping key by key.
func (s splitter) mapping(n *yaml.Node, t reflect.Type) (below, above *yaml.Node) {
	below, above = mappingOf(), mappingOf()
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		under, over := s.value(n.Content[i+1], typeOf(t, key.Value))
		if under != nil {
			below.Content = append(below.Content, key, under)
		}
		if over != nil {
			above.Content = append(above.Content, key, over)
		}
	}
	return below, above
}

// value divides a value; what is nil is not in that file.
func (s splitter) value(n *yaml.Node, t reflect.Type) (below, above *yaml.Node) {
	if whole := s.IntN(3); len(n.Content) == 0 || whole == 0 {
		switch s.IntN(5) {
		case 0, 1:
			return n, nil
		case 2:
			if n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null" {
				return scalarOf("replaced"), n
			}
		}
		return nil, n
	}
	if n.Kind == yaml.MappingNode {
		below, above = s.mapping(n, t)
		switch {
		case len(below.Content) == 0:
			return nil, n
		case len(above.Content) == 0:
			return n, nil
		}
		return below, above
	}
	if s.IntN(4) == 0 {
		replacing := *n
		replacing.Tag, replacing.Style = "!replace", n.Style|yaml.TaggedStyle
		return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{scalarOf("replaced")}}, &replacing
	}
	return s.list(n, typeOf(t, ""))
}

// list divides a list: its first items are in the base, and of those that are known by a
// key a part in each file.
func (s splitter) list(n *yaml.Node, t reflect.Type) (below, above *yaml.Node) {
	under, over := *n, *n
	under.Content, over.Content = nil, nil
	key := ""
	if t != nil {
		key = schemas.ItemKeys[t.Name()]
	}
	first := s.IntN(len(n.Content) + 1)
	for i, item := range n.Content {
		switch {
		case i >= first:
			over.Content = append(over.Content, item)
		case key == "":
			under.Content = append(under.Content, item)
		default:
			a, b := s.item(item, t, key)
			under.Content = append(under.Content, a)
			if b != nil {
				over.Content = append(over.Content, b)
			}
		}
	}
	if s.IntN(4) == 0 {
		gone := scalarOf("taken-away")
		if t != nil && t.Kind() == reflect.Struct {
			gone = mappingOf(n.Content[0].Content[0], scalarOf("taken-away"))
		}
		under.Content = append(under.Content, gone)
		away := *gone
		away.Tag, away.Style = "!delete", yaml.TaggedStyle
		over.Content = append(over.Content, &away)
	}
	switch {
	case len(under.Content) == 0:
		return nil, &over
	case len(over.Content) == 0:
		return &under, nil
	}
	return &under, &over
}

// item divides an item, whose key both parts have; or it is in the base alone.
func (s splitter) item(n *yaml.Node, t reflect.Type, key string) (below, above *yaml.Node) {
	if s.IntN(2) == 0 {
		return n, nil
	}
	rest := mappingOf()
	var name []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		if pair := n.Content[i : i+2]; pair[0].Value == key {
			name = pair
		} else {
			rest.Content = append(rest.Content, pair...)
		}
	}
	below, above = s.mapping(rest, t)
	below.Content = append(append([]*yaml.Node{}, name...), below.Content...)
	above.Content = append(append([]*yaml.Node{}, name...), above.Content...)
	return below, above
}

// typeOf is the type of what is below a key, or of an item; nil for what may hold
// anything.
func typeOf(t reflect.Type, key string) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil || t == reflect.TypeFor[yaml.Node]():
		return nil
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		return t.Elem()
	case t.Kind() != reflect.Struct:
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous && f.Tag.Get("yaml") == key {
			return f.Type
		}
	}
	return nil
}
