package addons

import (
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"go.yaml.in/yaml/v4"
)

// pos is the place of a value: where the highest layer that has it, or the
// nearest mapping around it, says so.
func (a *addonValues) pos(keys []string) diag.Pos {
	for n := len(keys); n > 0; n-- {
		for _, l := range slices.Backward(a.layers) {
			if found := l.find(keys[:n]); found.File != "" {
				return found
			}
		}
	}
	return diag.Pos{}
}

// find is the place of a value in a layer; zero if it has none.
func (l valuesLayer) find(keys []string) diag.Pos {
	node := l.node(keys)
	if node == nil {
		return diag.Pos{}
	}
	return diag.Pos{File: l.file, Line: node.Line, Column: node.Column}
}

// node follows keys, and indexes of lists, through a document.
func (l valuesLayer) node(keys []string) *yaml.Node {
	at := l.doc
	for _, key := range keys {
		for at != nil && at.Kind == yaml.AliasNode {
			at = at.Alias
		}
		if at == nil {
			return nil
		}
		next := (*yaml.Node)(nil)
		switch at.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(at.Content); i += 2 {
				if at.Content[i].Value == key {
					next = at.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(at.Content) {
				next = at.Content[i]
			}
		}
		at = next
	}
	return at
}
