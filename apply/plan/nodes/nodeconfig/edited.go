package nodeconfig

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"
)

// edited returns the text of a configuration with some values changed. What is
// not changed stays as it is, to the byte, in documents where each change puts
// one text in place of another; other documents are written anew.
func edited(c *Config, edits []edit) ([]byte, error) {
	var out bytes.Buffer
	separate := func() {
		if out.Len() > 0 {
			out.WriteString("---\n")
		}
	}
	for _, d := range c.docs {
		text := d.text
		if own := editsOf(edits, d.id); len(own) > 0 {
			var err error
			if text, err = d.edited(own); err != nil {
				return nil, c.problem("%s: %v", d.id, err)
			}
		}
		separate()
		out.Write(text)
		if !bytes.HasSuffix(text, []byte("\n")) {
			out.WriteByte('\n')
		}
	}
	var done []ID
	for _, e := range edits {
		if c.find(e.id) != nil || e.node == nil || slices.Contains(done, e.id) {
			continue
		}
		done = append(done, e.id)
		text, err := empty(e.id).encoded(editsOf(edits, e.id))
		if err != nil {
			return nil, c.problem("%s: %v", e.id, err)
		}
		separate()
		out.Write(text)
	}
	return out.Bytes(), nil
}

func editsOf(edits []edit, id ID) (own []edit) {
	for _, e := range edits {
		if e.id == id {
			own = append(own, e)
		}
	}
	return own
}

// empty is a document that Git does not have any more, and a node has to keep
// something of.
func empty(id ID) document {
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, kv := range [][2]string{{"apiVersion", id.APIVersion}, {"kind", id.Kind}, {"name", id.Name}} {
		if kv[1] != "" {
			root.Content = append(root.Content, textNode(kv[0]), textNode(kv[1]))
		}
	}
	return document{id: id, root: root}
}

func textNode(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

// edited changes a document in its text, or else writes it anew.
func (d document) edited(edits []edit) ([]byte, error) {
	lines := bytes.SplitAfter(bytes.Clone(d.text), []byte("\n"))
	for _, e := range edits {
		old := at(d.root, keysOf(e.path)...)
		if old == nil || e.node == nil || !inLine(lines, old, e.node) {
			return d.encoded(edits)
		}
	}
	return bytes.Join(lines, nil), nil
}

// simple are texts without anything that YAML could take for more.
var simple = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./@-]*(:[A-Za-z0-9_][A-Za-z0-9_./@-]*)*$`)

// inLine puts one simple text in the place of another.
func inLine(lines [][]byte, old, node *yaml.Node) bool {
	if old.Kind != yaml.ScalarNode || node.Kind != yaml.ScalarNode || node.ShortTag() != "!!str" || old.ShortTag() != "!!str" ||
		!simple.MatchString(old.Value) || !simple.MatchString(node.Value) || !plain(node.Value) || old.Line > len(lines) {
		return false
	}
	line, column := lines[old.Line-1], old.Column-1
	for _, quote := range []string{"", "'", `"`} {
		was := quote + old.Value + quote
		if column <= len(line) && bytes.HasPrefix(line[column:], []byte(was)) {
			lines[old.Line-1] = slices.Concat(line[:column], []byte(quote+node.Value+quote), line[column+len(was):])
			return true
		}
	}
	return false
}

// plain reports whether a text is one without quotes: true is none.
func plain(value string) bool {
	n := yaml.Node{Kind: yaml.ScalarNode, Value: value}
	return n.ShortTag() == "!!str"
}

// encoded writes a document anew, with its values changed.
func (d document) encoded(edits []edit) ([]byte, error) {
	root := clone(d.root)
	for _, e := range edits {
		set(root, keysOf(e.path), e.node)
	}
	var b bytes.Buffer
	w := yaml.NewEncoder(&b)
	w.SetIndent(4)
	if err := w.Encode(root); err != nil {
		return nil, fmt.Errorf("it cannot be written with what the node has")
	}
	return b.Bytes(), w.Close()
}

func clone(n *yaml.Node) *yaml.Node {
	if n == nil {
		return nil
	}
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i := range n.Content {
		c.Content[i] = clone(n.Content[i])
	}
	return &c
}

// set sets the value below some keys, or removes it.
func set(n *yaml.Node, keys []string, value *yaml.Node) {
	i := keyAt(n, keys[0])
	switch {
	case len(keys) > 1 && i < 0 && value == nil:
	case len(keys) > 1:
		if i < 0 {
			n.Content = append(n.Content, textNode(keys[0]), nil)
			i = len(n.Content) - 2
		}
		if below := n.Content[i+1]; below == nil || below.Kind != yaml.MappingNode {
			n.Content[i+1] = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		}
		set(n.Content[i+1], keys[1:], value)
	case value == nil && i >= 0:
		n.Content = slices.Delete(n.Content, i, i+2)
	case value == nil:
	case i >= 0:
		n.Content[i+1] = clone(value)
	default:
		n.Content = append(n.Content, textNode(keys[0]), clone(value))
	}
}
