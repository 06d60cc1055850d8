package machine

import (
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/nodefile"
)

func kind(k string) ID { return ID{APIVersion: mainKind, Kind: k} }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func mappingNode(pos diag.Pos) *yaml.Node {
	return nodefile.Set(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: pos.Line, Column: pos.Column}, pos)
}

func sequenceNode(items ...*yaml.Node) *yaml.Node {
	at := posOf(items[0])
	return nodefile.Set(&yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items, Line: at.Line, Column: at.Column}, at)
}

func stringNode(value string, pos diag.Pos) *yaml.Node {
	return nodefile.Set(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value, Line: pos.Line, Column: pos.Column}, pos)
}

func stringNodes(items []Option) *yaml.Node {
	nodes := make([]*yaml.Node, len(items))
	for i, item := range items {
		nodes[i] = stringNode(item.Value, item.Pos)
	}
	return sequenceNode(nodes...)
}

func intNode(value int, pos diag.Pos) *yaml.Node {
	return nodefile.Set(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(value), Line: pos.Line, Column: pos.Column}, pos)
}

func boolNode(value bool, pos diag.Pos) *yaml.Node {
	return nodefile.Set(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(value), Line: pos.Line, Column: pos.Column}, pos)
}

// posOf is the place of a node; without its file, unless it is that of a base.
func posOf(n *yaml.Node) diag.Pos { return nodefile.Pos(n, "") }

func put(mapping *yaml.Node, key string, value *yaml.Node) {
	mapping.Content = append(mapping.Content, stringNode(key, posOf(value)), value)
}

// document returns a document, which begins at a place if it is new.
func (b *optionBuilder) document(id ID, pos diag.Pos) *yaml.Node {
	if doc := b.docs[id]; doc != nil {
		return doc
	}
	doc := mappingNode(pos)
	if !id.IsMain() {
		put(doc, "apiVersion", stringNode(id.APIVersion, pos))
		put(doc, "kind", stringNode(id.Kind, pos))
		if id.Name != "" {
			put(doc, "name", stringNode(id.Name, pos))
		}
	}
	b.docs[id] = doc
	b.order = append(b.order, id)
	return doc
}

// named is document for a kind of which there are several.
func (b *optionBuilder) named(kind string, name Option) place {
	id := ID{mainKind, kind, name.Value}
	b.document(id, name.Pos)
	return place{id: id}
}

// parent returns the mapping that the last key of a path goes into, making what
// is missing on the way.
func (b *optionBuilder) parent(id ID, pos diag.Pos, path []string) *yaml.Node {
	at := b.document(id, pos)
	for _, key := range path[:len(path)-1] {
		next := valueAt(at, key)
		if next == nil {
			next = mappingNode(pos)
			put(at, key, next)
		}
		at = next
	}
	return at
}

// set puts a single value at a path of a document.
func (b *optionBuilder) set(id ID, pos diag.Pos, value string, path ...string) {
	put(b.parent(id, pos, path), path[len(path)-1], stringNode(value, pos))
}

// add appends an item to the list at a path of a document.
func (b *optionBuilder) add(id ID, item *yaml.Node, path ...string) {
	pos := posOf(item)
	parent, key := b.parent(id, pos, path), path[len(path)-1]
	if list := valueAt(parent, key); list != nil {
		list.Content = append(list.Content, item)
		return
	}
	put(parent, key, sequenceNode(item))
}

// keepSecret notes that a value is secret.
func (b *optionBuilder) keepSecret(value *yaml.Node) {
	if b.secret == nil {
		b.secret = map[*yaml.Node]bool{}
	}
	b.secret[value] = true
}

// remove takes a document away that a lower layer has.
func (b *optionBuilder) remove(id ID, pos diag.Pos) {
	b.document(id, pos).Tag = tagDelete
}
