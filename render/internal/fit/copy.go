package fit

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secretplaces"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// copy takes over the files of the source that bring the environment nearer to the
// configurations, with their comments. What the others do is for options and patches to
// say. It returns how many values are lacking then.
func (m *builder) copy(s settings, least int) int {
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
			if err == nil && n == least {
				m.notes = append(m.notes, c.From+" was not copied: without it the configurations are the same")
				continue
			}
		}
		m.notes = append(m.notes, fmt.Sprintf("%s was not copied: %s; what it does is in %s or %s", c.From, why, m.inEnv("cluster.yaml"), m.inEnv("patches")))
	}
	return least
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
		hider := &hider{builder: m}
		if (walk{hider: hider, kind: kind}).finds(nil, root) || (walk{hider: hider}).comments(&doc) {
			return true
		}
	}
}

// finds reports whether a value has a secret in it.
func (w walk) finds(path yamltext.Path, n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		rest := w.withoutSecretReferences(n.Value)
		return rest != "" && w.secret(path, rest)
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
func (w walk) comments(n *yaml.Node) bool {
	for _, text := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		if text != "" && (w.secret(nil, text) || secretplaces.Named(text) && strings.ContainsAny(text, ":=")) {
			return true
		}
	}
	for _, c := range n.Content {
		if w.comments(c) {
			return true
		}
	}
	return false
}
