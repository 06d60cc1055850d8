package sopsage

import (
	"bytes"
	"errors"
	"strings"

	"github.com/getsops/sops/v3"
	"go.yaml.in/yaml/v3"
)

// emitYAML prints what SOPS' YAML store prints of decrypted documents, to the byte. That
// one runs an encoder and a parser for each key and each value, which is most of what it
// costs to decrypt a file; here one of each runs for all.
func emitYAML(branches sops.TreeBranches, indent int) ([]byte, error) {
	var values []any
	for _, branch := range branches {
		values = scalars(values, branch)
	}
	nodes, err := scalarNodes(values)
	if err != nil {
		return nil, err
	}
	e := emitter{nodes}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(indent)
	for _, branch := range branches {
		root := &yaml.Node{Kind: yaml.MappingNode}
		e.mapping(root, branch)
		if err := encoder.Encode(&yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{root}}); err != nil {
			return nil, err
		}
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// scalars appends the keys and values of a tree in their order, without comments.
func scalars(to []any, value any) []any {
	switch value := value.(type) {
	case sops.TreeBranch:
		for _, item := range value {
			if _, comment := item.Key.(sops.Comment); !comment {
				to = scalars(append(to, item.Key), item.Value)
			}
		}
	case []any:
		for _, item := range value {
			if _, comment := item.(sops.Comment); !comment {
				to = scalars(to, item)
			}
		}
	default:
		to = append(to, value)
	}
	return to
}

// scalarNodes gives each of some scalars the form in which SOPS prints it.
func scalarNodes(values []any) ([]*yaml.Node, error) {
	nodes := make([]*yaml.Node, len(values))
	var simple []any
	var places []int
	for i, value := range values {
		if text, ok := value.(string); ok && strings.ContainsAny(text, "\n\r\u0085\u2028\u2029") {
			// What has several lines reads differently in a list.
			nodes[i] = &yaml.Node{}
			if err := nodes[i].Encode(value); err != nil {
				return nil, err
			}
			continue
		}
		simple, places = append(simple, value), append(places, i)
	}
	var list yaml.Node
	if err := list.Encode(simple); err != nil {
		return nil, err
	}
	if len(list.Content) != len(simple) {
		return nil, errors.New("a list of scalars is read back as another one")
	}
	for i, place := range places {
		nodes[place] = list.Content[i]
	}
	return nodes, nil
}

// emitter makes nodes of a tree. Its scalars are taken in the order of [scalars].
type emitter struct{ scalars []*yaml.Node }

func (e *emitter) scalar() *yaml.Node {
	next := e.scalars[0]
	e.scalars = e.scalars[1:]
	return next
}

func (e *emitter) node(value any) *yaml.Node {
	switch value := value.(type) {
	case sops.TreeBranch:
		n := &yaml.Node{Kind: yaml.MappingNode}
		e.mapping(n, value)
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		e.sequence(n, value)
		return n
	}
	return e.scalar()
}

func (e *emitter) mapping(n *yaml.Node, branch sops.TreeBranch) {
	var c comments
	for _, item := range branch {
		if c.take(item.Key) {
			continue
		}
		c.first(n)
		key := e.scalar()
		c.above(key)
		value := e.node(item.Value)
		c.behind(value)
		n.Content = append(n.Content, key, value)
	}
	c.rest(n, len(n.Content)-2)
}

func (e *emitter) sequence(n *yaml.Node, list []any) {
	var c comments
	for _, item := range list {
		if c.take(item) {
			continue
		}
		c.first(n)
		value := e.node(item)
		c.above(value)
		c.behind(value)
		n.Content = append(n.Content, value)
	}
	c.rest(n, len(n.Content)-1)
}

// comments are those that wait for what they belong to: in SOPS' trees each is an item
// of its own.
type comments struct{ head, inline []string }

// take reports whether an item is a comment, and keeps it.
func (c *comments) take(item any) bool {
	comment, ok := item.(sops.Comment)
	switch {
	case !ok:
		return false
	case comment.Inline:
		c.inline = append(c.inline, comment.Value)
	default:
		c.head = append(c.head, comment.Value)
	}
	return true
}

// first puts comments before the first item above all of them.
func (c *comments) first(n *yaml.Node) {
	if len(n.Content) == 0 {
		c.above(n)
	}
}

// above puts comments above a node.
func (c *comments) above(n *yaml.Node) {
	n.HeadComment = joinComments(commentText(c.head), n.HeadComment)
	c.head = nil
}

// behind puts comments into the line of a node.
func (c *comments) behind(n *yaml.Node) {
	n.LineComment = joinComments(n.LineComment, commentText(c.inline))
	c.inline = nil
}

// rest puts what is left below the last item, or above a node that has none.
func (c *comments) rest(n *yaml.Node, last int) {
	left := commentText(append(c.head, c.inline...))
	if last < 0 {
		n.HeadComment = joinComments(left, n.HeadComment)
		return
	}
	below := n.Content[last]
	below.FootComment = joinComments(below.FootComment, left)
}

// commentText is comments with their marks, "" of none.
func commentText(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "#" + strings.Join(lines, "\n#")
}

func joinComments(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}
