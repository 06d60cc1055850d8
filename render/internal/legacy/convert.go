package legacy

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// Options say what a patch meets, and how to speak about it.
type Options struct {
	// Kinds are the kinds of the documents that the patch is applied to. Nil
	// means those that Talos 1.14 generates for a control plane with an install
	// disk.
	Kinds []string
	// Workers says that the patch is applied to workers too, where Talos
	// refuses documents that are for control planes only.
	Workers bool
	// All converts the fields as well that are deprecated but still read.
	All bool
	// HideValues keeps every value of the patch out of the hints of
	// [Conflicts]: for patches that are encrypted.
	HideValues bool
}

// Convert rewrites a patch, given as its parsed documents, for Talos 1.14.
//
// Fields that have a new home move to its document; what stays, stays, and so
// does what cannot be converted, with a problem at its place in the file. The
// new documents follow the legacy one, which is left out if nothing is left in
// it. The input is not changed; without anything to convert it is returned as
// it is. Besides what stayed behind, problems name documents that are not
// allowed on workers although the patch reaches them.
func Convert(file string, docs []*yaml.Node, opts Options) (out []*yaml.Node, problems []*diag.Problem) {
	c := run(file, docs, opts)
	if len(c.hits) == 0 {
		return docs, c.problems
	}
	if opts.Workers {
		c.warnWorkers()
	}
	return c.out, c.problems
}

// conversion is one run over the documents of a patch.
type conversion struct {
	file  string
	opts  Options
	table table
	kinds map[string]bool

	documents documents
	out       []*yaml.Node
	hits      []hit
	moved     []moved
	problems  []*diag.Problem
}

// hit is a legacy field that is to be converted.
type hit struct {
	field
	converted bool // at least a part of it
}

// moved is a key that the conversion wrote, and its document.
type moved struct {
	key *yaml.Node
	doc *document
}

// field is a legacy field in a patch.
type field struct {
	path       string
	home       *Home
	parent     *yaml.Node
	key, value *yaml.Node
}

// converter rewrites a field and reports whether nothing of it is left. It
// takes the parts that it converts out of the value, and calls refuse for
// every part that stays.
type converter func(*conversion, field) bool

// run converts everything that is due.
func run(file string, docs []*yaml.Node, opts Options) *conversion {
	c := &conversion{file: file, opts: opts, table: homes(), kinds: map[string]bool{Always: true}}
	if !slices.ContainsFunc(docs, func(doc *yaml.Node) bool { return isLegacy(content(doc)) }) {
		return c
	}
	met := opts.Kinds
	if met == nil {
		met = generatedKinds
	}
	for _, kind := range met {
		c.kinds[kind] = true
	}
	copies := make([]*yaml.Node, len(docs))
	for i, doc := range docs {
		if doc == nil {
			doc = &yaml.Node{Kind: yaml.DocumentNode}
		}
		copied, err := clone(doc)
		if err != nil {
			c.problem(doc, "the patch cannot be converted: %v", err)
			return c
		}
		copies[i] = copied
		if root := content(copied); isMapping(root) && !isLegacy(root) {
			c.documents.add(root)
		}
	}
	for _, doc := range copies {
		c.document(doc)
	}
	for _, doc := range c.out {
		if root := content(doc); isMapping(root) && hasTag(root) {
			oneLanguage(root)
		}
	}
	return c
}

// document converts one document of the patch and appends what became of it.
func (c *conversion) document(doc *yaml.Node) {
	root := content(doc)
	if !isLegacy(root) {
		c.out = append(c.out, doc)
		return
	}
	before, had := len(c.documents.list), !isBare(root)
	c.walk(root, "")
	made := c.documents.made(before)
	empty := had && isBare(root)
	if !empty {
		c.out = append(c.out, doc)
	}
	for i, m := range made {
		node := &yaml.Node{Kind: yaml.DocumentNode, Line: m.root.Line, Column: m.root.Column, Content: []*yaml.Node{m.root}}
		if empty && i == 0 {
			node.HeadComment = doc.HeadComment
		}
		if empty && i == len(made)-1 {
			node.FootComment = doc.FootComment
		}
		c.out = append(c.out, node)
	}
}

// walk converts the fields of a section and removes those of which nothing is
// left.
func (c *conversion) walk(section *yaml.Node, prefix string) {
	for i := 0; i+1 < len(section.Content); {
		key, value := section.Content[i], section.Content[i+1]
		path := key.Value
		if prefix != "" {
			path = prefix + "." + key.Value
		}
		f := field{path: path, home: c.table.rows[path], parent: section, key: key, value: value}
		if !c.field(f) {
			i += 2
			continue
		}
		section.Content = append(section.Content[:i:i], section.Content[i+2:]...)
	}
}

// field converts one field, whatever it is, and reports whether nothing of it
// is left.
func (c *conversion) field(f field) bool {
	up := c.table.rows[parentOf(f.path)]
	switch {
	case isMapping(f.value) && !isDelete(f.value) && c.table.sections[f.path]:
		return c.section(f)
	case f.home == nil && up != nil && c.collides(up):
		f.home = &Home{Path: f.path, Conflicts: up.Conflicts}
		c.hits = append(c.hits, hit{field: f})
		return c.refuse(f, c.unknown(f))
	case f.home == nil || c.table.sections[f.path] && f.home.Kind == "" || !c.due(f):
		return false
	case isNull(f.value):
		// unset: only in the way if its section is
		if up == nil || !c.collides(up) {
			return false
		}
		c.hits = append(c.hits, hit{field: f, converted: true})
		return true
	}
	c.hits = append(c.hits, hit{field: f})
	last, before := len(c.hits)-1, len(c.moved)
	gone := c.leaf(f)
	c.hits[last].converted = gone || len(c.moved) > before
	return gone
}

// leaf converts a field that is no section.
func (c *conversion) leaf(f field) bool {
	switch {
	case f.home.Advice != "" && f.home.convert == nil:
		return c.refuse(f, f.home.Advice)
	case isDelete(f.value) && f.home.deleted != nil:
		return f.home.deleted(c, f)
	case isDelete(f.value) || f.home.convert == nil:
		return c.move(f, f.value)
	}
	return f.home.convert(c, f)
}

// section converts the fields of a section. The section goes with the last of
// them, and its comment with the first.
func (c *conversion) section(f field) bool {
	start := len(c.moved)
	if f.home != nil && len(f.value.Content) == 0 && c.collides(f.home) {
		c.hits = append(c.hits, hit{field: f, converted: true})
		return true
	}
	if len(f.value.Content) == 0 {
		return false
	}
	c.walk(f.value, f.path)
	if len(f.value.Content) > 0 {
		return false
	}
	if len(c.moved) > start {
		c.moved[start].comment(f.key.HeadComment, f.key.LineComment)
	}
	return true
}

// comment puts the comments of a section that is gone above what came of it.
func (m moved) comment(texts ...string) {
	target := m.key
	if m.doc.made {
		target = m.doc.root.Content[0]
	}
	lines := slices.DeleteFunc(append(texts, target.HeadComment), func(s string) bool { return s == "" })
	target.HeadComment = strings.Join(lines, "\n")
}

// due reports whether a field is to be converted.
func (c *conversion) due(f field) bool {
	if f.home.Stays() {
		return false
	}
	if c.opts.All {
		return true
	}
	if f.home.whenTrue {
		if value, ok := boolOf(f.value); ok && !value {
			return false
		}
	}
	return c.collides(f.home)
}

// collides reports whether the patch meets a document that excludes the field.
func (c *conversion) collides(h *Home) bool {
	return slices.ContainsFunc(h.Conflicts, func(kind string) bool { return c.kinds[kind] })
}

// refuse reports that a field, or a part of one, stays where it is; it returns
// false, for converters to return.
func (c *conversion) refuse(f field, advice string) bool {
	p := c.problem(f.key, "%s is not converted for Talos 1.14", f.path)
	if p.Hint = advice; f.home.Kind != "" {
		p.Message += ", where " + f.home.Target() + " took it over"
	}
	return false
}

// unknown is the advice for a field that is not in the table.
func (c *conversion) unknown(f field) string {
	var siblings []string
	for path := range c.table.rows {
		if parentOf(path) == parentOf(f.path) {
			siblings = append(siblings, path[len(parentOf(path))+1:])
		}
	}
	slices.Sort(siblings)
	advice := "talosgen does not know the field"
	if s := diag.Suggest(f.key.Value, siblings); s != "" {
		advice += "; " + s
	}
	return advice
}

// problem adds a problem at a node.
func (c *conversion) problem(n *yaml.Node, format string, args ...any) *diag.Problem {
	p := diag.New(diag.Pos{File: c.file, Line: n.Line, Column: n.Column}, format, args...)
	c.problems = append(c.problems, p)
	return p
}
