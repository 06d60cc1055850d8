package machine

import (
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// Taint knows which leaves of a configuration came out of a secret: by the
// place and the value that a secret source gave them, and, for values that can
// be recognised, wherever they stand.
type Taint struct {
	placed map[string]bool     // document, path pattern, value
	long   []string            // those that can be recognised
	holds  map[string][]string // memo: which of long does a value hold?
}

func newTaint() *Taint {
	return &Taint{placed: map[string]bool{}, holds: map[string][]string{}}
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
	if text = strings.TrimSpace(text); secret.New(text).Recognisable() {
		t.long = append(t.long, text)
	}
}

// isSecret reports whether a leaf is known to the taint: by its place, or because
// it holds a secret that does not stand readable anyway.
func (t *Taint) isSecret(id ID, pattern string, l *yamltext.Leaf, readable *secret.Readable) bool {
	return t.placed[placeKey(id, pattern, l.Value)] ||
		slices.ContainsFunc(t.held(l.Value), func(s string) bool { return !readable.Holds(s) })
}

// held are the secrets that stand in a value.
func (t *Taint) held(value string) []string {
	held, known := t.holds[value]
	if !known {
		for _, s := range t.long {
			if strings.Contains(value, s) {
				held = append(held, s)
			}
		}
		t.holds[value] = held
	}
	return held
}

// Secret reports, for each leaf of a document of the configuration, whether it
// is secret. What identifies a document's kind never is: it is a word of
// Talos', not a value.
func (c *Config) Secret(d *Document) ([]bool, error) {
	leaves, err := d.Leaves()
	if err != nil {
		return nil, err
	}
	isSecret := make([]bool, len(leaves))
	var pattern []byte
	for i := range leaves {
		l := &leaves[i]
		if l.Kind == yamltext.Null || l.Kind == yamltext.EmptyMap || l.Kind == yamltext.EmptySequence || l.Value == "" {
			continue
		}
		if namesKind(l.Path) {
			continue
		}
		pattern = l.Path.AppendPattern(pattern[:0])
		for _, t := range c.taints {
			if t.isSecret(d.ID, string(pattern), l, c.Readable) {
				isSecret[i] = true
				break
			}
		}
	}
	return isSecret, nil
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
	w := taintWalk{
		taint: l.patch.taint, id: pd.id, secret: map[string]bool{}, readable: map[string]bool{},
		isSecret: func(n *yaml.Node) bool { return expanded[n] || encrypted[n] },
	}
	w.walk(pd.node, nil)
	if len(w.secret) == 0 || pd.unknown {
		return
	}
	if err := w.canonical(pd); err != nil {
		l.problems.AddErr(err)
	}
}

// taintWalk walks a document of a patch for its secret scalars.
type taintWalk struct {
	taint    *Taint
	id       ID
	isSecret func(*yaml.Node) bool
	secret   map[string]bool // patterns that have a secret value
	readable map[string]bool // pattern and value of the others
}

func (w *taintWalk) walk(n *yaml.Node, path yamltext.Path) {
	switch n.Kind {
	case yaml.ScalarNode:
		w.scalar(n, path)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.ShortTag() == "!!merge" {
				w.merged(value, path)
				continue
			}
			w.walk(value, append(path[:len(path):len(path)], yamltext.Key(key.Value)))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			w.walk(item, append(path[:len(path):len(path)], yamltext.Index(i)))
		}
	case yaml.AliasNode:
		w.walk(n.Alias, path)
	}
}

// merged walks what a merge key (<<) takes into the mapping at a path: another
// mapping, or a list of them.
func (w *taintWalk) merged(value *yaml.Node, path yamltext.Path) {
	if value.Kind != yaml.SequenceNode {
		w.walk(value, path)
		return
	}
	for _, mapping := range value.Content {
		w.walk(mapping, path)
	}
}

func (w *taintWalk) scalar(n *yaml.Node, path yamltext.Path) {
	pattern := path.Pattern()
	switch {
	case namesKind(path): // never secret
	case w.isSecret(n):
		w.secret[pattern] = true
		w.taint.addPlace(w.id, pattern, n.Value)
		w.taint.addText(n.Value)
	default:
		w.readable[pattern+n.Value] = true
	}
}

// namesKind reports whether a path is that of a document's kind or version:
// words of Talos', not values.
func namesKind(path yamltext.Path) bool {
	return len(path) == 1 && (path[0].Key == "kind" || path[0].Key == "apiVersion")
}

// canonical adds the values at secret paths as Talos prints them. A list may
// hold secret and readable values; its other items are told apart by what is
// written.
func (w *taintWalk) canonical(pd *patchDoc) error {
	var docs []config.Document
	switch {
	case pd.typed != nil:
		docs = []config.Document{pd.typed}
	case pd.selectors != nil:
		docs = pd.selectors
	default:
		typed, err := decodeNode("", pd.id, stripDirectives(pd.node))
		if err != nil {
			return err
		}
		docs = []config.Document{typed}
	}
	for _, typed := range docs {
		if _, selects := typed.(configloader.Selector); selects {
			continue
		}
		text, err := yaml.Marshal(typed)
		if err != nil {
			return err
		}
		leaves, err := (&Document{ID: pd.id, typed: typed, text: text}).Leaves()
		if err != nil {
			return err
		}
		for i := range leaves {
			pattern := leaves[i].Path.Pattern()
			if w.secret[pattern] && !w.readable[pattern+leaves[i].Value] {
				w.taint.addPlace(pd.id, pattern, leaves[i].Value)
				w.taint.addText(leaves[i].Value)
			}
		}
	}
	return nil
}
