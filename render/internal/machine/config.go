package machine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// Config is the machine configuration of a node, or of several as far as they
// have it in common. It does not change; [Config.Apply] makes another.
type Config struct {
	// Readable is what stands in the clear beside the configuration: a value from
	// a secret source that stands there too is secret in its own place only.
	Readable *secret.Readable

	docs   []*Document
	taints []*Taint
}

// Documents returns the documents in order; the main one is the first.
func (c *Config) Documents() []*Document { return c.docs }

// Document returns the document with an identity, or nil.
func (c *Config) Document(id ID) *Document {
	if i := c.index(id); i >= 0 {
		return c.docs[i]
	}
	return nil
}

func (c *Config) index(id ID) int {
	return slices.IndexFunc(c.docs, func(d *Document) bool { return d.ID == id })
}

// Apply merges patches into the configuration, in order. On top of Talos'
// merge it sees to it that nothing is lost without a word: what a patch sets
// has arrived, and what no patch mentions is still there.
func (c *Config) Apply(patches []*Patch) (*Config, diag.List, error) {
	m := merger{Config: Config{Readable: c.Readable, docs: slices.Clone(c.docs), taints: slices.Clone(c.taints)}, base: c, owned: map[ID]bool{}}
	for _, p := range patches {
		m.warnings.Add(p.Warnings...)
		if p.taint != nil {
			m.taints = append(m.taints, p.taint)
		}
		for _, pd := range p.docs {
			if err := m.document(p, pd); err != nil {
				m.problems.AddErr(err)
			}
		}
	}
	if err := m.problems.Err(); err != nil {
		return nil, m.warnings, err
	}
	if err := m.guard(patches); err != nil {
		return nil, m.warnings, err
	}
	return &m.Config, m.warnings, nil
}

// merger is a configuration in the making.
type merger struct {
	Config
	base     *Config
	owned    map[ID]bool // documents copied since base, which may be merged into in place
	problems diag.List
	warnings diag.List
}

// document applies one document of a patch. A panic of the library is a
// problem like others: its merge relies on types that a patch may not have.
func (m *merger) document(p *Patch, pd *patchDoc) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = diag.New(nodePos(p.File, pd.node), "Talos cannot merge this into %s", pd.shown)
		}
	}()
	switch {
	case pd.unknown:
		return m.addUnknown(p, pd)
	case pd.directives:
		err = m.edit(p, pd)
	case pd.selectors != nil:
		err = m.merge(p, pd, pd.selectors)
	default:
		err = m.merge(p, pd, []config.Document{pd.typed})
	}
	if err != nil {
		return err
	}
	return m.arrived(p, pd)
}

// merge follows Talos' rules: documents of the same identity are merged, others
// appended, and a selector removes what it selects.
func (m *merger) merge(p *Patch, pd *patchDoc, docs []config.Document) error {
	for _, right := range docs {
		selector, selects := right.(configloader.Selector)
		i := m.index(typedID(right))
		switch {
		case i < 0 && selects:
			m.warnings.Add(diag.New(nodePos(p.File, pd.node), "$patch: delete in %s, which is not there: nothing is deleted", pd.shown))
		case i < 0:
			m.docs = append(m.docs, &Document{ID: typedID(right), typed: clone(right)})
			m.owned[typedID(right)] = true
		case selects:
			if err := m.remove(p, pd, m.own(i), selector, i); err != nil {
				return err
			}
		default:
			// Merge takes over pointers of the patch, which others may use too.
			if err := mergeTyped(m.own(i), clone(right), pd.node); err != nil {
				return mergeProblem(p, pd, err)
			}
		}
	}
	return nil
}

// mergeProblem says why Talos cannot merge a document. Of the library's messages
// only one holds no values.
func mergeProblem(p *Patch, pd *patchDoc, err error) error {
	problem := diag.New(nodePos(p.File, pd.node), "Talos cannot merge this into %s", pd.shown)
	if strings.Contains(err.Error(), "merge type mismatch") {
		problem.Message += ": " + err.Error()
		problem.WithHint("a value has another type than the one in a lower layer; !replace on the map or list that holds it takes the new one")
	}
	return problem
}

// change puts another content into the place of a document.
func (m *merger) change(i int, typed config.Document) {
	d := m.docs[i]
	before := d.before
	if !m.owned[d.ID] { // else it is changed in place, and nobody may rely on it
		before = d
	}
	m.docs[i] = &Document{ID: d.ID, typed: typed, before: before}
	m.owned[d.ID] = true
}

// own returns a document that may be changed: a copy of the shared one, made at
// the first change.
func (m *merger) own(i int) config.Document {
	d := m.docs[i]
	typed := d.typed
	if !m.owned[d.ID] {
		typed = clone(typed)
	}
	m.change(i, typed) // without the text, which is no longer right
	return typed
}

func (m *merger) remove(p *Patch, pd *patchDoc, doc config.Document, selector configloader.Selector, i int) error {
	err := selector.ApplyTo(doc)
	switch {
	case errors.Is(err, configloader.ErrZeroedDocument):
		m.docs = slices.Delete(m.docs, i, i+1)
		return nil
	case err != nil:
		return diag.New(nodePos(p.File, pd.node), "%v", err).
			WithHint("Talos' $patch: delete wants the path to be there; `key: !delete` removes it if it is there")
	}
	return nil
}

// edit carries out !replace and !delete on the document's tree, then lets Talos
// merge the rest.
func (m *merger) edit(p *Patch, pd *patchDoc) error {
	i := m.index(pd.id)
	if pd.node.Tag == tagDelete {
		if i >= 0 {
			m.docs = slices.Delete(m.docs, i, i+1)
		}
		return nil
	}
	rest := stripDirectives(pd.node)
	if i < 0 && pd.node.Tag != tagReplace && onlyIdentity(rest) {
		return nil // nothing but deletions was in it
	}
	if i >= 0 {
		tree, err := m.docs[i].Tree()
		if err != nil {
			return err
		}
		if pd.node.Tag == tagReplace {
			typed, err := decodeNode(p.File, pd.shown, rest)
			if err != nil {
				return err
			}
			m.change(i, typed)
			return nil
		}
		e := editor{}
		rest = e.mapping(tree, pd.node)
		if e.changed {
			edited, err := decodeNode(p.File, pd.shown, tree)
			if err != nil {
				return diag.New(nodePos(p.File, pd.node), "what !delete and !replace leave of %s is no such document", pd.shown)
			}
			m.change(i, edited)
		}
	}
	typed, err := decodeNode(p.File, pd.shown, rest)
	if err != nil {
		return err
	}
	return m.merge(p, pd, []config.Document{typed})
}

// onlyIdentity reports whether a document says nothing but what it is.
func onlyIdentity(root *yaml.Node) bool {
	for i := 0; i+1 < len(root.Content); i += 2 {
		switch key, value := root.Content[i].Value, root.Content[i+1]; {
		case key == "apiVersion", key == "kind", key == "name":
		case value.Kind != yaml.MappingNode || !onlyIdentity(value):
			return false
		}
	}
	return true
}

// Tree returns the document's text, parsed. It is the caller's to change.
func (d *Document) Tree() (*yaml.Node, error) {
	text, err := d.Text()
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil || len(doc.Content) == 0 {
		return nil, fmt.Errorf("reading %s back: %w", d.ID.Kind, err)
	}
	return doc.Content[0], nil
}

// withoutComments copies a tree without its comments: they may hold secrets
// that are encrypted in the file.
func withoutComments(n *yaml.Node) *yaml.Node {
	c := *n
	c.HeadComment, c.LineComment, c.FootComment = "", "", ""
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		c.Content[i] = withoutComments(child)
	}
	return &c
}

// addUnknown passes on a document of a kind that the library does not know.
func (m *merger) addUnknown(p *Patch, pd *patchDoc) error {
	if m.index(pd.id) >= 0 {
		return diag.New(nodePos(p.File, pd.node), "%s is in several patches, and talosgen's Talos library does not know how to merge that kind", pd.shown).
			WithHint("keep the document in one patch")
	}
	text, err := yaml.Marshal(withoutComments(pd.node))
	if err != nil {
		return diag.New(nodePos(p.File, pd.node), "%s cannot be encoded", pd.shown)
	}
	doc := &Document{ID: pd.id, text: text}
	if _, err := doc.Leaves(); err != nil {
		return diag.New(nodePos(p.File, pd.node), "%s uses YAML that talosgen does not pass on", pd.shown).
			WithHint("keys that are not plain words, and the merge key <<, are not supported here").WithCause(err)
	}
	m.docs = append(m.docs, doc)
	return nil
}
