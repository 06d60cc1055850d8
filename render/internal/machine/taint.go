package machine

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/yamltext"
)

// minSubstring is the length in bytes from which a secret is looked for inside
// of other values too. Shorter ones are known by their path only: "true" or
// "5" as part of a value means nothing.
const minSubstring = 8

// Taint knows which leaves of a configuration came out of a secret: by the
// place and the value that a secret source gave them, and, for values long
// enough to be recognised, wherever they stand.
type Taint struct {
	placed map[string]bool // document, path pattern, value
	long   []string
	holds  map[string]bool // memo: does a value hold one of long?
}

func newTaint() *Taint {
	return &Taint{placed: map[string]bool{}, holds: map[string]bool{}}
}

func placeKey(id ID, pattern, value string) string {
	return id.APIVersion + "\x00" + id.Kind + "\x00" + pattern + "\x00\x00" + value
}

// addPlace makes a leaf with that path pattern and value secret. The name is
// not part of the place: names may be secret themselves.
func (t *Taint) addPlace(id ID, pattern, value string) {
	t.placed[placeKey(id, pattern, value)] = true
}

// addText makes every leaf secret that holds the text.
func (t *Taint) addText(text string) {
	if text = strings.TrimSpace(text); len(text) >= minSubstring {
		t.long = append(t.long, text)
	}
}

// isSecret reports whether a leaf is known to the taint.
func (t *Taint) isSecret(id ID, pattern string, l *yamltext.Leaf) bool {
	return t.placed[placeKey(id, pattern, l.Value)] || t.holdsSecret(l.Value)
}

func (t *Taint) holdsSecret(value string) bool {
	if len(value) < minSubstring {
		return false
	}
	holds, known := t.holds[value]
	if !known {
		for _, s := range t.long {
			if strings.Contains(value, s) {
				holds = true
				break
			}
		}
		t.holds[value] = holds
	}
	return holds
}

// Secret reports, for each leaf of a document of the configuration, whether it
// is secret. What identifies a document's kind never is: it is a word of
// Talos', not a value.
func (c *Config) Secret(d *Document) ([]bool, error) {
	leaves, err := d.Leaves()
	if err != nil {
		return nil, err
	}
	secret := make([]bool, len(leaves))
	var pattern []byte
	for i := range leaves {
		l := &leaves[i]
		if l.Kind == yamltext.Null || l.Kind == yamltext.EmptyMap || l.Kind == yamltext.EmptySequence || l.Value == "" {
			continue
		}
		if len(l.Path) == 1 && (l.Path[0].Key == "kind" || l.Path[0].Key == "apiVersion") {
			continue
		}
		pattern = l.Path.AppendPattern(pattern[:0])
		for _, t := range c.taints {
			if t.isSecret(d.ID, string(pattern), l) {
				secret[i] = true
				break
			}
		}
	}
	return secret, nil
}

// readSecretScalars returns, for each document of the file, the scalars that
// are encrypted in the committed file: all that are not readable there.
func (l *patchLoader) readSecretScalars(docs []*yaml.Node) []map[*yaml.Node]bool {
	secrets := make([]map[*yaml.Node]bool, len(docs))
	if l.src.Encrypted == nil {
		return secrets
	}
	committed, err := parseDocuments(l.src.File, l.src.Encrypted)
	if err != nil {
		committed = nil
	}
	for i, doc := range docs {
		secrets[i] = map[*yaml.Node]bool{}
		var readable *yaml.Node
		if i < len(committed) {
			readable = committed[i]
		}
		markEncrypted(doc, readable, secrets[i])
	}
	return secrets
}

// markEncrypted walks a decrypted document beside the committed one and marks
// the scalars that do not stand there in the clear.
func markEncrypted(n, committed *yaml.Node, secret map[*yaml.Node]bool) {
	switch n.Kind {
	case yaml.ScalarNode:
		if committed == nil || committed.Kind != yaml.ScalarNode || committed.Value != n.Value {
			secret[n] = true
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			markEncrypted(n.Content[i+1], valueAt(committed, n.Content[i].Value), secret)
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			var beside *yaml.Node
			if committed != nil && committed.Kind == yaml.SequenceNode && len(committed.Content) == len(n.Content) {
				beside = committed.Content[i]
			}
			markEncrypted(item, beside, secret)
		}
	}
}

// taint records where the secrets of a patch document go: under their paths,
// as they are written and as Talos prints them (5m becomes 5m0s).
func (l *patchLoader) taint(pd *patchDoc, expanded, encrypted map[*yaml.Node]bool) {
	if len(expanded) == 0 && len(encrypted) == 0 {
		return
	}
	if l.patch.taint == nil {
		l.patch.taint = newTaint()
	}
	t := l.patch.taint
	patterns := map[string]bool{}
	var walk func(n *yaml.Node, path yamltext.Path)
	walk = func(n *yaml.Node, path yamltext.Path) {
		switch n.Kind {
		case yaml.ScalarNode:
			if expanded[n] || encrypted[n] {
				pattern := path.Pattern()
				patterns[pattern] = true
				t.addPlace(pd.id, pattern, n.Value)
				t.addText(n.Value)
			}
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(n.Content[i+1], append(path[:len(path):len(path)], yamltext.Key(n.Content[i].Value)))
			}
		case yaml.SequenceNode:
			for i, item := range n.Content {
				walk(item, append(path[:len(path):len(path)], yamltext.Index(i)))
			}
		case yaml.AliasNode:
			walk(n.Alias, path)
		}
	}
	walk(pd.node, nil)
	l.taintCanonical(t, pd, patterns)
}

// taintCanonical adds the values at secret paths as Talos prints them.
func (l *patchLoader) taintCanonical(t *Taint, pd *patchDoc, patterns map[string]bool) {
	typed := pd.typed
	if pd.directives {
		typed, _ = decodeNode(l.src.File, pd.id, stripDirectives(pd.node)) // decoded before without an error
	}
	if typed == nil {
		return
	}
	leaves, err := (&Document{ID: pd.id, typed: typed}).Leaves()
	if err != nil {
		l.problems.AddErr(err)
		return
	}
	for i := range leaves {
		if pattern := leaves[i].Path.Pattern(); patterns[pattern] {
			t.addPlace(pd.id, pattern, leaves[i].Value)
			t.addText(leaves[i].Value)
		}
	}
}
