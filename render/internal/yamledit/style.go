package yamledit

import "go.yaml.in/yaml/v4"

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle

// like gives a value the quotes that people use beside it: those of the first
// key and of the first text in a mapping.
func like(value, sibling *yaml.Node) *yaml.Node {
	if sibling == nil || sibling.Kind != yaml.MappingNode || len(sibling.Content) == 0 {
		return value
	}
	var texts yaml.Style
	for i := 1; i < len(sibling.Content); i += 2 {
		if v := sibling.Content[i]; v.Kind == yaml.ScalarNode && v.ShortTag() == "!!str" {
			texts = v.Style & quoted
			break
		}
	}
	return restyle(value, sibling.Content[0].Style&quoted, texts)
}

// restyle copies a value with quotes around its keys and texts.
func restyle(n *yaml.Node, keys, texts yaml.Style) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			c.Content[i] = restyle(child, keys, keys)
		} else {
			c.Content[i] = restyle(child, keys, texts)
		}
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		c.Style = texts
	}
	return &c
}
