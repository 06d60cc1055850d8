package manifest

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

const (
	maxDepth   = 100     // levels of maps and lists
	maxAliased = 200_000 // nodes that aliases stand for, in one file
)

// reader turns nodes into values and collects what is wrong with them.
type reader struct {
	file     string
	any      bool // what is no object is left out
	loose    bool // keys that are there twice are warnings
	problems diag.List
	warnings diag.List
	aliased  int // nodes read through an alias so far
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) *diag.Problem {
	p := diag.New(diag.Pos{File: r.file, Line: n.Line, Column: n.Column}, format, args...)
	r.problems.Add(p)
	return p
}

// value reads a node; inAlias tells whether an alias led to it.
func (r *reader) value(n *yaml.Node, depth int, inAlias bool) any {
	if depth > maxDepth {
		r.fail(n, "nested deeper than %d levels", maxDepth)
		return nil
	}
	if inAlias {
		if r.aliased++; r.aliased > maxAliased {
			if r.aliased == maxAliased+1 {
				r.fail(n, "aliases stand for more than %d values", maxAliased)
			}
			return nil
		}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.value(n.Alias, depth+1, true)
	case yaml.MappingNode:
		return r.mapping(n, depth, inAlias)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			list[i] = r.value(item, depth+1, inAlias)
		}
		return list
	}
	return r.scalar(n)
}

func (r *reader) mapping(n *yaml.Node, depth int, inAlias bool) map[string]any {
	result := make(map[string]any, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.ScalarNode && key.Tag == "!!merge" {
			merges = append(merges, value)
			continue
		}
		name, ok := r.key(key)
		if !ok {
			continue
		}
		if _, double := result[name]; double && !r.twice(key, name) {
			continue
		}
		result[name] = r.value(value, depth+1, inAlias)
	}
	for _, merge := range merges {
		r.merge(result, merge, depth)
	}
	return result
}

// twice reports a key that is there again, and tells whether the new value
// counts.
func (r *reader) twice(key *yaml.Node, name string) bool {
	if r.loose {
		r.warnings.Add(diag.New(diag.Pos{File: r.file, Line: key.Line, Column: key.Column}, "the key %q is there twice; the last one counts", name))
		return true
	}
	r.fail(key, "the key %q is there twice", name).WithHint("remove one of them; which one counts depends on the reader")
	return false
}

// merge adds what a merge key (<<) stands for, where the map has nothing.
func (r *reader) merge(into map[string]any, n *yaml.Node, depth int) {
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	for _, source := range sources {
		merged, ok := r.value(source, depth+1, true).(map[string]any)
		if !ok {
			r.fail(source, "<< needs a map")
			continue
		}
		for name, value := range merged {
			if _, found := into[name]; !found {
				into[name] = value
			}
		}
	}
}

// key reads the key of a map. Those that are numbers or booleans become texts.
func (r *reader) key(n *yaml.Node) (string, bool) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		r.fail(n, "a key has to be a text")
		return "", false
	}
	switch v := r.scalar(n).(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 32), true
	}
	r.fail(n, "a key has to be a text").WithHint("quote it")
	return "", false
}

func (r *reader) scalar(n *yaml.Node) any {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch {
	case n.Style&yaml.TaggedStyle != 0 && n.ShortTag() == "!!str":
		return n.Value
	case n.Style&yaml.TaggedStyle != 0 && !slices.Contains([]string{"!!int", "!!float", "!!bool", "!!null"}, n.ShortTag()):
		r.fail(n, "the tag %s means nothing in a manifest", n.Tag)
		return nil
	case n.Style&quoted != 0 && n.Style&yaml.TaggedStyle == 0:
		return n.Value
	}
	value, err := resolve(n.Value)
	if err != nil {
		r.fail(n, "%s: %v", n.Value, err)
	}
	return value
}
