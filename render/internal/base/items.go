package base

import (
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/schemas"
)

// ItemKey is the key that the items of a list are known by; "" if they are added.
func ItemKey(item reflect.Type) string {
	if item == nil {
		return ""
	}
	return schemas.ItemKeys[item.Name()]
}

// Item is the key that an item of a list is known by, and its value there. The path has
// the index of the item in the merged document.
func Item(root *yaml.Node, path []string) (key, value string) {
	t := reflect.TypeFor[schemas.Cluster]()
	for _, step := range path {
		key, root = ItemKey(below(t, "")), child(root, step)
		if root == nil {
			return "", ""
		}
		if root.Kind == yaml.MappingNode {
			value, _ = scalarAt(root, key)
		}
		t = next(t, step)
	}
	return key, value
}

// At is what is at a path of a document, in which items have their names; nil if there is
// nothing.
func At(root *yaml.Node, path []string) *yaml.Node {
	t := reflect.TypeFor[schemas.Cluster]()
	for _, step := range path {
		if root = alias(root); root.Kind != yaml.SequenceNode {
			if root = child(root, step); root == nil {
				return nil
			}
			t = below(t, step)
			continue
		}
		t = below(t, "")
		i := slices.IndexFunc(root.Content, func(n *yaml.Node) bool {
			name, ok := scalarAt(alias(n), ItemKey(t))
			return ok && name == step
		})
		if i < 0 {
			return nil
		}
		root = alias(root.Content[i])
	}
	return root
}

// next is the type of what is at a step of a path, a key or an index.
func next(t reflect.Type, step string) reflect.Type {
	if t != nil && t.Kind() == reflect.Slice {
		return below(t, "")
	}
	return below(t, step)
}

// child is what is at a step of a path, a key or an index; nil if there is nothing.
func child(n *yaml.Node, step string) *yaml.Node {
	switch n = alias(n); n.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return alias(n.Content[i])
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return alias(n.Content[i+1])
			}
		}
	}
	return nil
}

// alias is what a node stands for.
func alias(n *yaml.Node) *yaml.Node {
	for range maxAliases {
		if n.Kind != yaml.AliasNode {
			break
		}
		n = n.Alias
	}
	return n
}

// below is the type of what is below a key of a mapping, or of an item of a list with
// the key ""; nil for what may hold anything.
func below(t reflect.Type, key string) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return nil
	case t.Kind() == reflect.Slice && key == "", t.Kind() == reflect.Map:
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
