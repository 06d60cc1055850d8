package subst

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Source says what a document was read from.
type Source struct {
	File   string // for positions
	Secret bool   // the file was encrypted: errors repeat nothing of its text
}

// Expanded is a document with its variables substituted.
type Expanded struct {
	// Doc shares every subtree without a variable with the document that went
	// in, which is left as it was. If nothing was substituted it is that document.
	Doc *yaml.Node
	// Secret holds the scalars of Doc into which a secret went. An alias of
	// such a scalar is not in it, the scalar that it points to is.
	Secret map[*yaml.Node]bool
	// Failed holds the scalars of Doc that an error is about. A reference that
	// is wrong is left out of them.
	Failed map[*yaml.Node]bool
	// Used are the names that the document refers to, sorted, defined or not.
	Used []string
}

// ExpandNode substitutes variables in the keys and values of a document.
// Quoted and block scalars stay strings. A plain scalar takes the type of the
// result if that is an integer, a float or a boolean, and is a string
// otherwise, also where YAML would see null or a date. Comments, tags and
// anchors are left alone. On an error the returned Expanded is complete still.
func ExpandNode(src Source, doc *yaml.Node, scope *Scope) (Expanded, error) {
	x := expander{
		src:    src,
		scope:  scope,
		secret: map[*yaml.Node]bool{},
		failed: map[*yaml.Node]bool{},
		used:   map[string]bool{},
	}
	out := x.node(doc)
	used := slices.Sorted(maps.Keys(x.used))
	return Expanded{Doc: out, Secret: x.secret, Failed: x.failed, Used: used}, x.problems.Err()
}

type expander struct {
	src      Source
	scope    *Scope
	problems diag.List
	secret   map[*yaml.Node]bool
	failed   map[*yaml.Node]bool
	used     map[string]bool
	replaced map[*yaml.Node]*yaml.Node // anchored nodes, for their aliases
}

// node returns n, or its copy if anything in it was substituted.
func (x *expander) node(n *yaml.Node) *yaml.Node {
	out := n
	switch n.Kind {
	case yaml.ScalarNode:
		out = x.scalar(n)
	case yaml.AliasNode:
		// An anchor comes before its aliases, so it is known by now.
		if target, ok := x.replaced[n.Alias]; ok {
			c := *n
			c.Alias = target
			out = &c
		}
	default:
		out = x.collection(n)
	}
	if out != n && n.Anchor != "" {
		if x.replaced == nil {
			x.replaced = map[*yaml.Node]*yaml.Node{}
		}
		x.replaced[n] = out
	}
	return out
}

func (x *expander) collection(n *yaml.Node) *yaml.Node {
	out, newKey := n, false
	for i, child := range n.Content {
		c := x.node(child)
		isKey := n.Kind == yaml.MappingNode && i%2 == 0
		if isKey {
			x.checkKey(child, c)
		}
		if c == child {
			continue
		}
		if out == n {
			shallow := *n
			shallow.Content = slices.Clone(n.Content)
			out = &shallow
		}
		out.Content[i] = c
		newKey = newKey || isKey
	}
	if newKey {
		x.checkUnique(out)
	}
	return out
}

// checkKey refuses a secret in a key: keys are never encrypted.
func (x *expander) checkKey(key, expanded *yaml.Node) {
	if expanded.Kind == yaml.AliasNode {
		expanded = expanded.Alias
	}
	if x.secret[expanded] {
		x.failed[expanded] = true
		x.problems.Add(diag.New(x.at(key), "a secret variable in a key").
			WithHint("keys stay readable in rendered files; a secret can only be a value"))
	}
}

// checkUnique finds keys that substitution made equal.
func (x *expander) checkUnique(mapping *yaml.Node) {
	seen := map[string]bool{}
	for i := 0; i < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		if key.Kind != yaml.ScalarNode {
			continue
		}
		if seen[key.Value] {
			x.failed[key] = true
			x.problems.Add(diag.New(x.at(key), "this key is in the mapping twice after substitution"))
		}
		seen[key.Value] = true
	}
}

func (x *expander) scalar(n *yaml.Node) *yaml.Node {
	if !strings.Contains(n.Value, "${") {
		return n
	}
	e := expand(n.Value, x.scope)
	for _, name := range e.used {
		x.used[name] = true
	}
	for _, f := range e.faults {
		x.problems.Add(f.problem(position(x.src.File, n, f.offset), x.scope, x.src.Secret))
	}
	out := *n
	out.Value = e.result
	if isPlain(n) {
		out.Tag = plainTag(e.result)
	}
	if e.secret {
		x.secret[&out] = true
	}
	if len(e.faults) > 0 {
		x.failed[&out] = true
	}
	return &out
}

func (x *expander) at(n *yaml.Node) diag.Pos {
	return diag.Pos{File: x.src.File, Line: n.Line, Column: n.Column}
}

// isPlain tells whether YAML chose the type of a scalar by looking at it.
func isPlain(n *yaml.Node) bool {
	const decided = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle | yaml.TaggedStyle
	return n.Style&decided == 0 && n.Tag != "!"
}

// plainTag is the tag of a plain scalar after substitution.
func plainTag(value string) string {
	var v any
	if err := (&yaml.Node{Kind: yaml.ScalarNode, Value: value}).Decode(&v); err != nil {
		return "!!str"
	}
	switch v.(type) {
	case int, int64, uint64:
		return "!!int"
	case float64:
		return "!!float"
	case bool:
		return "!!bool"
	default:
		return "!!str"
	}
}
