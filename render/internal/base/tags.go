package base

import (
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/nodefile"
)

// Tags say how a value meets what is below it. They are those of patches.
const (
	tagReplace = "!replace"
	tagDelete  = "!delete"
)

func isDirective(n *yaml.Node) bool { return n.Tag == tagReplace || n.Tag == tagDelete }

// directs reports whether there is a tag in a tree.
func directs(n *yaml.Node) bool {
	if isDirective(n) {
		return true
	}
	for _, c := range n.Content {
		if directs(c) {
			return true
		}
	}
	return false
}

// checkTags looks at the tags of a file. The lowest has nothing below it, so it has
// none.
func checkTags(p Part, lowest bool) diag.List {
	c := tagCheck{file: p.File, lowest: lowest}
	c.walk(p.Root, false)
	return c.problems
}

type tagCheck struct {
	file     string
	lowest   bool
	problems diag.List
}

func (c *tagCheck) add(n *yaml.Node, message, hint string) {
	c.problems.Add(diag.New(nodefile.Pos(n, c.file), "%s", message).WithHint("%s", hint))
}

func (c *tagCheck) walk(n *yaml.Node, inList bool) {
	switch {
	case c.lowest && isDirective(n):
		c.add(n, n.Tag+" in a file that has no base", "it changes what a base sets, and "+c.file+" names none")
	case n.Tag == tagReplace && n.Kind == yaml.ScalarNode:
		c.add(n, "!replace on a single value", "a single value always replaces; !replace is for lists and mappings")
	case n.Tag == tagDelete && !deletes(n, inList):
		c.add(n, "!delete of what?", "write `key: !delete`; in a list, `- !delete x` removes the value x and\n`- !delete {name: x}` the item with that name")
	case n.Kind == yaml.AliasNode && directs(n.Alias):
		c.add(n, "an alias of something with !replace or !delete", "write it out here: what these tags do depends on the place")
	}
	for i, child := range n.Content {
		if isKey := n.Kind == yaml.MappingNode && i%2 == 0; isKey && directs(child) {
			c.add(child, "!replace or !delete in a key", "write it behind the key: `"+child.Value+": !delete`")
			continue
		}
		c.walk(child, n.Kind == yaml.SequenceNode)
	}
}

// deletes reports whether a !delete says what to remove, and no more.
func deletes(n *yaml.Node, inList bool) bool {
	if inList {
		return n.Value != "" || n.Kind == yaml.MappingNode && len(n.Content) > 0
	}
	return n.Kind == yaml.ScalarNode && n.Value == ""
}

// plain is a value without tags: what they would change is not there.
func plain(n *yaml.Node) *yaml.Node {
	if !directs(n) {
		return n
	}
	out := *n
	out.Content = nil
	if n.Tag == tagReplace {
		out.Tag = ""
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i+1].Tag != tagDelete {
				out.Content = append(out.Content, n.Content[i], plain(n.Content[i+1]))
			}
		}
	default:
		for _, item := range n.Content {
			if item.Tag != tagDelete {
				out.Content = append(out.Content, plain(item))
			}
		}
	}
	return &out
}
