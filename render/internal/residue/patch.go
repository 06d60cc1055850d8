package residue

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/machine"
)

// Tags of patches.
const (
	tagDelete  = "!delete"
	tagReplace = "!replace"
)

// Write writes changes as a patch, in the order in which Talos writes the values. The
// comment, which may be empty, is put before it.
func Write(changes []Change, comment string) ([]byte, error) {
	var out bytes.Buffer
	for _, line := range strings.Split(strings.TrimSpace(comment), "\n") {
		if line != "" {
			out.WriteString("# " + line + "\n")
		}
	}
	for i, root := range roots(changes) {
		var text bytes.Buffer
		enc := yaml.NewEncoder(&text)
		enc.SetIndent(2)
		if err := enc.Encode(root); err != nil {
			return nil, err
		}
		switch {
		case strings.HasPrefix(text.String(), "!"):
			out.WriteString("--- ")
		case i > 0:
			out.WriteString("---\n")
		}
		out.Write(text.Bytes())
	}
	return out.Bytes(), nil
}

// roots are the documents of a patch.
func roots(changes []Change) (all []*yaml.Node) {
	var ids []machine.ID
	for _, c := range changes {
		if !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	for _, id := range ids {
		root := mapping()
		if !id.IsMain() {
			set(root, "apiVersion", text(id.APIVersion))
			set(root, "kind", text(id.Kind))
			if id.Name != "" {
				set(root, "name", text(id.Name))
			}
		}
		for _, c := range changes {
			if c.ID == id {
				apply(root, c)
			}
		}
		all = append(all, root)
	}
	return all
}

// apply writes a change into a document of a patch.
func apply(root *yaml.Node, c Change) {
	switch {
	case len(c.Path) > 0:
	case c.Value == nil:
		root.Tag = tagDelete
		return
	default:
		if c.Whole {
			root.Tag = tagReplace
		}
		root.Content = append(root.Content, c.Value.Content...)
		return
	}
	to := root
	for _, key := range c.Path[:len(c.Path)-1] {
		next := Child(to, key)
		if next == nil {
			next = mapping()
			set(to, key, next)
		}
		to = next
	}
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: tagDelete}
	if c.Value != nil {
		copied := *c.Value
		value = &copied
		if c.Whole {
			value.Tag = tagReplace
		}
	}
	set(to, c.Path[len(c.Path)-1], value)
}

func mapping() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

func text(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }

func set(to *yaml.Node, key string, value *yaml.Node) {
	to.Content = append(to.Content, text(key), value)
}
