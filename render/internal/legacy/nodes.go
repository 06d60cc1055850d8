package legacy

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v4"
)

// maxAliased bounds how many nodes the aliases of a document may expand to.
const maxAliased = 50_000

// Encode writes documents as one YAML stream.
func Encode(docs []*yaml.Node) ([]byte, error) {
	if len(docs) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	dumper, err := yaml.NewDumper(&out, yaml.WithV3Defaults(),
		yaml.WithIndent(2), yaml.WithCompactSeqIndent(false), yaml.WithLineWidth(-1))
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		if err := dumper.Dump(doc); err != nil {
			return nil, err
		}
	}
	err = dumper.Close()
	return out.Bytes(), err
}

// content returns the root node of a document, or nil if it is empty.
func content(doc *yaml.Node) *yaml.Node {
	if doc == nil || doc.Kind != yaml.DocumentNode {
		return doc
	}
	if len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// isLegacy reports whether a document is (a patch of) the v1alpha1 document.
func isLegacy(root *yaml.Node) bool {
	return isMapping(root) && get(root, "kind") == nil
}

// isBare reports whether a legacy document says nothing but its version.
func isBare(root *yaml.Node) bool { return only(root, "version", "apiVersion") }

func isMapping(n *yaml.Node) bool  { return n != nil && n.Kind == yaml.MappingNode }
func isSequence(n *yaml.Node) bool { return n != nil && n.Kind == yaml.SequenceNode }
func isNull(n *yaml.Node) bool     { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// get returns the value of a key, or nil.
func get(mapping *yaml.Node, key string) *yaml.Node {
	if i := indexOf(mapping, key); i >= 0 {
		return mapping.Content[i+1]
	}
	return nil
}

// text returns the text of a scalar below a key, or "".
func text(mapping *yaml.Node, key string) string {
	if v := get(mapping, key); v != nil && v.Kind == yaml.ScalarNode && !isNull(v) {
		return v.Value
	}
	return ""
}

// take removes a key and returns key and value, or nil, nil.
func take(mapping *yaml.Node, key string) (k, v *yaml.Node) {
	i := indexOf(mapping, key)
	if i < 0 {
		return nil, nil
	}
	k, v = mapping.Content[i], mapping.Content[i+1]
	mapping.Content = append(mapping.Content[:i:i], mapping.Content[i+2:]...)
	return k, v
}

// indexOf returns the index of a key in a mapping's content, or -1.
func indexOf(mapping *yaml.Node, key string) int {
	if !isMapping(mapping) {
		return -1
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if k := mapping.Content[i]; k.Kind == yaml.ScalarNode && k.Value == key {
			return i
		}
	}
	return -1
}

// isDelete reports whether a value is a deletion: Talos' "$patch: delete" or
// talosgen's !delete.
func isDelete(n *yaml.Node) bool {
	return n.Tag == "!delete" || text(n, "$patch") == "delete"
}

// deletion returns the deletion of a value; it is fine if there is none.
func deletion() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!delete"} }

func scalar(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

func boolean(value bool) *yaml.Node {
	if value {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"}
}

func number(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: value}
}

// mapping returns a mapping of alternating keys and values.
func mapping(pairs ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: pairs}
}

func sequence(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

// at gives a new node the place and the comments of the one that it replaces.
func at(n, origin *yaml.Node) *yaml.Node {
	n.Line, n.Column = origin.Line, origin.Column
	n.HeadComment, n.LineComment, n.FootComment = origin.HeadComment, origin.LineComment, origin.FootComment
	return n
}

// boolOf reads a value as Talos would; ok is false for variables and nonsense.
func boolOf(n *yaml.Node) (value, ok bool) {
	if n == nil || n.Kind != yaml.ScalarNode || isNull(n) || isDelete(n) {
		return false, false
	}
	return value, n.Decode(&value) == nil
}

// errAliases is why a document cannot be copied.
var errAliases = errors.New("aliases refer to themselves, or expand to too much")

// copier copies nodes with their aliases resolved, since an anchor does not
// reach into the other documents of a file.
type copier struct {
	left   int // nodes that aliases may still expand to
	depth  int // of the aliases being resolved
	active map[*yaml.Node]bool
}

// clone copies a document. Merge keys (<<) are resolved as well.
func clone(n *yaml.Node) (*yaml.Node, error) {
	c := copier{left: maxAliased, active: map[*yaml.Node]bool{}}
	return c.copy(n)
}

func (c *copier) copy(n *yaml.Node) (*yaml.Node, error) {
	if c.depth > 0 {
		c.left--
	}
	if c.left < 0 || c.active[n] {
		return nil, errAliases
	}
	if n.Kind == yaml.AliasNode {
		if n.Alias == nil {
			return nil, errAliases
		}
		c.depth++
		resolved, err := c.copy(n.Alias)
		c.depth--
		if err == nil {
			at(resolved, n)
		}
		return resolved, err
	}
	if n.Anchor != "" {
		c.active[n] = true
		defer delete(c.active, n)
	}
	out := *n
	out.Anchor = ""
	out.Content = make([]*yaml.Node, 0, len(n.Content))
	for _, child := range n.Content {
		copied, err := c.copy(child)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, copied)
	}
	if indexOf(&out, "<<") >= 0 {
		mergeKeys(&out)
	}
	return &out, nil
}

// mergeKeys replaces "<<" by the keys that it adds.
func mergeKeys(m *yaml.Node) {
	var sources []*yaml.Node
	own := map[string]bool{}
	kept := make([]*yaml.Node, 0, len(m.Content))
	for i := 0; i+1 < len(m.Content); i += 2 {
		key, value := m.Content[i], m.Content[i+1]
		switch {
		case key.Value != "<<" || key.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
			own[key.Value] = true
			kept = append(kept, key, value)
		case isSequence(value):
			sources = append(sources, value.Content...)
		default:
			sources = append(sources, value)
		}
	}
	for _, source := range sources {
		if !isMapping(source) {
			continue
		}
		for i := 0; i+1 < len(source.Content); i += 2 {
			if key := source.Content[i]; !own[key.Value] {
				own[key.Value] = true
				kept = append(kept, key, source.Content[i+1])
			}
		}
	}
	m.Content = kept
}
