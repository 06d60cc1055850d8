package fit

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// copy takes over the files of the source that bring the environment nearer to the
// configurations, with their comments. What the others do is for patches to say.
func (m *builder) copy(s settings) error {
	least, err := m.lacking(s)
	if err != nil {
		return err
	}
	for _, c := range m.Origin.Copies {
		why := m.unfit(c)
		if why == "" {
			m.copied[c.To] = c.Data
			n, err := m.lacking(s)
			if err == nil && n < least {
				least = n
				continue
			}
			delete(m.copied, c.To)
			why = "as it stands it does not lead to the configurations"
		}
		m.notes = append(m.notes, fmt.Sprintf("%s was not copied: %s; what it does is in %s", c.From, why, m.inEnv("patches")))
	}
	return nil
}

// unfit says why a file cannot be taken over as it is; empty if it can.
func (m *builder) unfit(c foreign.Copy) string {
	switch {
	case m.copied[c.To] != nil:
		return "there is another file of that name"
	case sopsage.IsEncryptedYAML(c.Data):
		return "it is encrypted"
	case bytes.Contains(c.Data, []byte("{{")):
		return "it is a template"
	case m.bare(c.Data):
		return "a secret may stand in it"
	}
	return ""
}

// bare reports whether a patch has a secret in the clear.
func (m *builder) bare(data []byte) bool {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if err == io.EOF {
			return false
		}
		if err != nil || len(doc.Content) == 0 {
			return err != nil // what cannot be read cannot be taken over either
		}
		root := doc.Content[0]
		kind := foreign.Text(root, "kind")
		if kind == machine.MainID.Kind {
			kind = ""
		}
		if (walk{hider: &hider{builder: m}, kind: kind}).finds(nil, root) || m.comments(&doc) {
			return true
		}
	}
}

// finds reports whether a value has a secret in it.
func (w walk) finds(path yamltext.Path, n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return n.Value != "" && w.secret(path, n.Value)
	}
	for i, c := range n.Content {
		below := yamltext.Index(i)
		if n.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue
			}
			below = yamltext.Key(n.Content[i-1].Value)
		}
		if w.finds(append(path[:len(path):len(path)], below), c) {
			return true
		}
	}
	return false
}

// comments reports whether a secret stands in a comment.
func (m *builder) comments(n *yaml.Node) bool {
	w := walk{hider: &hider{builder: m}}
	for _, text := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		if text != "" && (w.secret(nil, text) || secretText.MatchString(text) && strings.ContainsAny(text, ":=")) {
			return true
		}
	}
	for _, c := range n.Content {
		if m.comments(c) {
			return true
		}
	}
	return false
}
