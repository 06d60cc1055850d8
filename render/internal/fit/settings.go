package fit

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/sorting"
)

// setting is an option of cluster.yaml.
type setting struct {
	path    string // keys, separated by dots
	value   any
	comment string
}

// settings are those of a file.
type settings []setting

func (s settings) with(more ...setting) settings {
	return append(slices.Clip(slices.Clone(s)), more...)
}

// sections are the keys at the top, in the order in which the reference has them.
var sections = []string{"apiVersion", "clusterName", "provider", "endpoint", "access", "deleteProtection", "network", "talos", "kubernetes", "cni", "hetzner", "nodes", "addons"}

// encode writes the file.
func (s settings) encode() ([]byte, error) {
	sorted := slices.Clone(s)
	rank := func(x setting) int {
		top, _, _ := strings.Cut(x.path, ".")
		return slices.Index(sections, top)
	}
	sorting.By(sorted, func(a, b setting) int { return rank(a) - rank(b) })
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, x := range sorted {
		if err := put(root, strings.Split(x.path, "."), x); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	out.WriteString("# " + strings.ReplaceAll(clusterComment, "\n", "\n# ") + "\n")
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := enc.Encode(root)
	return out.Bytes(), err
}

func put(to *yaml.Node, keys []string, x setting) error {
	var value *yaml.Node
	for i := 0; i+1 < len(to.Content); i += 2 {
		if to.Content[i].Value == keys[0] {
			value = to.Content[i+1]
		}
	}
	if value == nil {
		key := &yaml.Node{Kind: yaml.ScalarNode, Value: keys[0]}
		value = &yaml.Node{Kind: yaml.MappingNode}
		if len(keys) == 1 {
			var err error
			if value, err = nodeOf(x.value); err != nil {
				return err
			}
			flow(value)
		}
		if x.comment != "" {
			key.HeadComment = "# " + strings.ReplaceAll(x.comment, "\n", "\n# ")
		}
		to.Content = append(to.Content, key, value)
		if len(keys) == 1 {
			return nil
		}
		key.HeadComment = ""
	}
	if len(keys) == 1 {
		return value.Encode(x.value)
	}
	return put(value, keys[1:], x)
}

// nodeOf encodes a value. Nodes in a list keep their comments, which Encode drops.
func nodeOf(value any) (n *yaml.Node, err error) {
	if n, is := value.(*yaml.Node); is {
		return n, nil
	}
	list, is := value.([]any)
	if !is {
		n = &yaml.Node{}
		return n, n.Encode(value)
	}
	n = &yaml.Node{Kind: yaml.SequenceNode}
	for _, item := range list {
		node, err := nodeOf(item)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, node)
	}
	return n, nil
}

// flow writes lists of texts on one line, and what a machine is known by.
func flow(n *yaml.Node) {
	short := n.Kind == yaml.SequenceNode && len(n.Content) <= 6
	for i, c := range n.Content {
		if c.Kind != yaml.ScalarNode {
			short = false
			flow(c)
		}
		if n.Kind == yaml.MappingNode && i%2 == 1 && (n.Content[i-1].Value == "match" || n.Content[i-1].Value == "diskSelector") {
			c.Style = yaml.FlowStyle
		}
	}
	if short {
		n.Style = yaml.FlowStyle
	}
}
