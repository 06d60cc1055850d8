package manifest

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Located is an object, and where it is written.
type Located struct {
	Object
	Pos  diag.Pos
	node *yaml.Node // nil if it was not read from a file
}

// At returns where a field is written, such as spec.containers[0].image: the
// nearest one above it that is there. Keys may have dots themselves.
func (l Located) At(path string) diag.Pos {
	pos := l.Pos
	for n := l.node; n != nil && path != ""; {
		n, path = into(follow(n), path)
		if n != nil {
			pos.Line, pos.Column = n.Line, n.Column
		}
	}
	return pos
}

// into goes one step along a path, and returns what is left of it.
func into(n *yaml.Node, path string) (*yaml.Node, string) {
	if n.Kind == yaml.SequenceNode {
		number, rest, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		i, err := strconv.Atoi(number)
		if err != nil || i < 0 || i >= len(n.Content) {
			return nil, ""
		}
		return n.Content[i], strings.TrimPrefix(rest, ".")
	}
	if n.Kind != yaml.MappingNode {
		return nil, ""
	}
	return longest(n, path)
}

// longest finds the longest key of a map that the path begins with.
func longest(n *yaml.Node, path string) (found *yaml.Node, rest string) {
	length := -1
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		after, fits := strings.CutPrefix(path, key)
		if fits && len(key) > length && (after == "" || after[0] == '.' || after[0] == '[') {
			found, rest, length = n.Content[i+1], strings.TrimPrefix(after, "."), len(key)
		}
	}
	return found, rest
}
