package legacy

import (
	"encoding/base64"
	"encoding/pem"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// deleteDocument converts the deletion of a field into that of its document.
func deleteDocument(c *conversion, f field) bool {
	return c.remove(f, f.home.Kind, f.home.Name)
}

// refuseDelete leaves a deletion for which there is no counterpart.
func refuseDelete(c *conversion, f field) bool {
	return c.refuse(f, "delete the "+f.home.Kind+" document, or the part of it, that is meant")
}

// refuseShape leaves a value that Talos would not take either, or a variable
// where the shape must be known.
func (c *conversion) refuseShape(f field, want string) bool {
	return c.refuse(f, "only "+want+" can be converted, written out and not as a variable")
}

// convertDisabled turns "disabled" into "enabled".
func convertDisabled(c *conversion, f field) bool {
	disabled, ok := boolOf(f.value)
	if !ok {
		return c.refuseShape(f, "true or false")
	}
	return c.move(f, at(boolean(!disabled), f.value))
}

// convertManifestsDirectory drops what Talos 1.14 does anyway.
func convertManifestsDirectory(c *conversion, f field) bool {
	if disabled, ok := boolOf(f.value); ok && disabled {
		return true
	}
	return c.refuse(f, f.home.Advice)
}

// sub returns the field at a key of f, taken out of f's value, or ok = false.
func (f field) sub(key string) (s field, ok bool) {
	k, v := take(f.value, key)
	if k == nil {
		return field{}, false
	}
	return field{path: f.path + "." + key, home: f.home, parent: f.value, key: k, value: v}, true
}

// back puts a part that was taken out of f back.
func (f field) back(part field) bool {
	f.value.Content = append(f.value.Content, part.key, part.value)
	return false
}

// rest refuses what is left of a value and reports whether nothing is.
func (c *conversion) rest(f field, advice map[string]string) bool {
	for i := 0; i+1 < len(f.value.Content); i += 2 {
		key := f.value.Content[i]
		part := field{path: f.path + "." + key.Value, home: &Home{}, key: key}
		if a, ok := advice[key.Value]; ok {
			c.refuse(part, a)
		} else if !c.refusedAt(f) && !c.refusedAt(part) {
			c.refuse(part, "talosgen does not know the field")
		}
	}
	return len(f.value.Content) == 0
}

// refusedAt reports whether the field has a problem already.
func (c *conversion) refusedAt(f field) bool {
	return slices.ContainsFunc(c.problems, func(p *diag.Problem) bool {
		return p.Pos.Line == f.key.Line && p.Pos.Column == f.key.Column
	})
}

// each calls convert for every item of a list, which it leaves without those
// that were converted. A list that replaces that of other patches is refused:
// named documents cannot do that.
func (c *conversion) each(f field, convert func(item field) bool) bool {
	if !isSequence(f.value) || f.value.Tag == "!replace" {
		return c.refuseShape(f, "a list that adds to those of other patches")
	}
	var left []*yaml.Node
	for _, item := range f.value.Content {
		if !convert(field{path: f.path, home: f.home, key: item, value: item}) {
			left = append(left, item)
		}
	}
	f.value.Content = left
	return len(left) == 0
}

// plain returns an item's node as a key to take place and comments from.
func plain(item field) field {
	item.key = at(scalar(""), item.value)
	item.key.LineComment = ""
	return item
}

// pemOf decodes a base64 value that holds PEM; ok is false if it is anything
// else, such as a variable.
func pemOf(n *yaml.Node) (*yaml.Node, bool) {
	if n == nil || n.Kind != yaml.ScalarNode {
		return nil, false
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(n.Value))
	if err != nil {
		return nil, false
	}
	if block, _ := pem.Decode(raw); block == nil {
		return nil, false
	}
	return at(scalar(string(raw)), n), true
}
