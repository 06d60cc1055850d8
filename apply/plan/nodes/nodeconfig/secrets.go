package nodeconfig

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secretplaces"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// marker is the comment that a render puts behind each secret, and that stays
// there when the file is decrypted.
const marker = "# secret"

func isSecret(id ID, path yamltext.Path) bool { return secretplaces.Certain(id.Kind, path) }

// leaf is a value at its place, or an empty collection.
type leaf struct {
	id     ID
	path   yamltext.Path
	node   *yaml.Node
	marked bool
}

// leaves calls visit for each value at or below a node, in order.
func leaves(id ID, path yamltext.Path, n *yaml.Node, marked bool, visit func(leaf)) {
	marked = marked || isMarked(n)
	if len(n.Content) == 0 {
		visit(leaf{id, path, n, marked})
		return
	}
	for i, c := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			leaves(id, extend(path, yamltext.Index(i)), c, marked, visit)
		case i%2 == 1:
			key := n.Content[i-1]
			leaves(id, extend(path, yamltext.Key(key.Value)), c, marked || isMarked(key), visit)
		}
	}
}

func isMarked(n *yaml.Node) bool { return strings.TrimSpace(n.LineComment) == marker }

func extend(path yamltext.Path, e yamltext.Elem) yamltext.Path {
	return append(path[:len(path):len(path)], e)
}

// side knows which values of one of the two configurations are secret.
type side struct {
	// Whether the text marks its secrets: free text without a mark is none.
	trusted bool
	// The secrets, what may be one, and all the rest.
	secrets, doubtful []string
	plain             map[string]bool
}

// newSide looks at all values. Git's own configurations are rendered, and
// render follows secrets from their source; of a text that comes from a node
// that is believed only if every secret that is certain has its mark.
func newSide(c *Config, rendered bool) *side {
	s := &side{plain: map[string]bool{}}
	marks, bare := 0, 0
	c.walk(func(l leaf) {
		if l.marked {
			marks++
		} else if l.node.Value != "" && isSecret(l.id, l.path) {
			bare++
		}
	})
	s.trusted = rendered || marks > 0 && bare == 0
	c.walk(func(l leaf) {
		switch value := l.node.Value; {
		case value == "":
		case l.marked || isSecret(l.id, l.path):
			s.secrets = append(s.secrets, value)
		case s.secret(l):
			s.doubtful = append(s.doubtful, value)
		default:
			s.plain[value] = true
		}
	})
	return s
}

func (c *Config) walk(visit func(leaf)) {
	for _, d := range c.docs {
		leaves(d.id, nil, d.root, false, visit)
	}
}

// secret reports whether a value must not be shown.
func (s *side) secret(l leaf) bool {
	return l.marked || isSecret(l.id, l.path) || !s.trusted && secretplaces.Possible(l.id.Kind, l.path)
}
