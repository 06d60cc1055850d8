package config

import (
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v4"
)

// tree reads a mapping of anything, such as a configuration file of another
// program. Aliases are replaced by what they stand for.
func (d *decoder) tree(n *yaml.Node, f reflect.StructField, out reflect.Value, path []string) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, exampleHint(f), "%s must be a mapping, not %s", display(path), kindOf(n))
		return
	}
	out.Set(reflect.ValueOf(d.copyTree(n, path)))
}

// copyTree returns a copy of a node without aliases. Keys that are no texts, or
// are there twice, are problems.
func (d *decoder) copyTree(n *yaml.Node, path []string) *yaml.Node {
	n = d.target(n)
	c := *n
	c.Content, c.Anchor = nil, ""
	switch n.Kind {
	case yaml.MappingNode:
		seen := map[string]*yaml.Node{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := d.target(n.Content[i])
			if !d.isKey(k, seen) {
				continue
			}
			key := *k
			key.Anchor = ""
			c.Content = append(c.Content, &key, d.copyTree(n.Content[i+1], sub(path, k.Value)))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			c.Content = append(c.Content, d.copyTree(item, sub(path, strconv.Itoa(i))))
		}
	default:
		d.plainTag(n, path)
	}
	return &c
}

// plainTag refuses the tags of other programs.
func (d *decoder) plainTag(n *yaml.Node, path []string) {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
	default:
		d.fail(n, "", "%s has the tag %s, which is not for cluster.yaml", display(path), tag)
	}
}
