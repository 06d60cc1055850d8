package machine

import (
	"bytes"
	"errors"
	"io"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/yamlerror"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// Source is a patch file as it was read.
type Source struct {
	File  string // repository-relative, with forward slashes
	Layer string // the layer it belongs to, for people: "environment, common"
	Data  []byte // decrypted
	// Encrypted is the file as it is committed, if it is encrypted. Values that
	// are readable there are not secret.
	Encrypted []byte
}

// Patch is a strategic merge patch: the documents of one file, checked and
// ready to be applied any number of times.
type Patch struct {
	File  string
	Layer string
	// PerNode says that the patch was loaded for one node only.
	PerNode  bool
	Warnings diag.List

	docs      []*patchDoc
	taint     *Taint
	encrypted bool
}

// patchDoc is one document of a patch.
type patchDoc struct {
	id    ID
	shown ID         // id for messages: a secret name is masked
	node  *yaml.Node // with variables substituted

	// One of these says what to do with the document.
	typed      config.Document   // merge it
	selectors  []config.Document // Talos' $patch: delete, and what remains to merge
	directives bool              // !replace or !delete: decided when it is applied
	unknown    bool              // a kind that the library does not know

	zero []zeroLeaf
}

// LoadOptions say how a patch is loaded.
type LoadOptions struct {
	Scope   *subst.Scope // the variables
	PerNode bool         // they are those of one node
	// Inspect, if it is set, looks at the documents before substitution, and may
	// change them.
	Inspect func(docs []*yaml.Node) error
}

// LoadPatch parses a patch file, substitutes its variables, and decodes it as
// Talos does. All problems of the file are reported together.
func LoadPatch(src Source, o LoadOptions) (*Patch, error) {
	l := patchLoader{src: src, scope: o.Scope, patch: &Patch{File: src.File, Layer: src.Layer, PerNode: o.PerNode, encrypted: src.Encrypted != nil}}
	docs, err := parseDocuments(src.File, src.Data)
	if err != nil {
		return nil, err
	}
	for _, doc := range docs {
		if expandedSize(doc, map[*yaml.Node]int{}) > largestExpansion {
			return nil, diag.New(l.at(doc), "with its aliases written out the document is too large, or without end").
				WithHint("an alias (*name) stands for all of its anchor (&name), also for the aliases in there")
		}
		if p := yamlerror.TooDeep(src.File, doc); p != nil {
			return nil, p
		}
		l.problems = append(l.problems, yamlerror.NullKeys(src.File, doc)...)
	}
	if o.Inspect != nil {
		if err := o.Inspect(docs); err != nil {
			return nil, err
		}
	}
	secrets := l.readSecretScalars(docs)
	for i, doc := range docs {
		l.document(doc, secrets[i])
	}
	if len(l.patch.docs) == 0 && len(l.problems) == 0 {
		l.patch.Warnings.Add(diag.New(diag.Pos{File: src.File}, "the patch is empty"))
	}
	if err := l.problems.Err(); err != nil {
		return nil, err
	}
	return l.patch, nil
}

// parseDocuments parses a file into the roots of its documents; empty ones are
// left out.
func parseDocuments(file string, data []byte) ([]*yaml.Node, error) {
	var docs []*yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, yamlerror.Syntax(file, data, err)
		}
		if len(doc.Content) == 0 || saysNothing(doc.Content[0]) {
			continue
		}
		docs = append(docs, doc.Content[0])
	}
}

// largestExpansion is the number of nodes that a document may have with its
// aliases written out; what follows walks all of them.
const largestExpansion = 1_000_000

// expandedSize counts the nodes of a tree with its aliases written out, up to
// the largest. sizes holds those of anchors; one that is being counted is
// in itself, and so without end.
func expandedSize(n *yaml.Node, sizes map[*yaml.Node]int) int {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Anchor != "" {
		if size, ok := sizes[n]; ok {
			return size
		}
		sizes[n] = largestExpansion + 1
	}
	size := 1
	for _, c := range n.Content {
		size = min(size+expandedSize(c, sizes), largestExpansion+1)
	}
	if n.Anchor != "" {
		sizes[n] = size
	}
	return size
}

// saysNothing reports whether a document is null or {}.
func saysNothing(root *yaml.Node) bool {
	return root.Tag == "!!null" || root.Tag == "!!map" && len(root.Content) == 0
}

type patchLoader struct {
	src      Source
	scope    *subst.Scope
	patch    *Patch
	problems diag.List
}

func (l *patchLoader) at(n *yaml.Node) diag.Pos {
	return diag.Pos{File: l.src.File, Line: n.Line, Column: n.Column}
}

// document loads one document. inFile holds the scalars that are encrypted in
// the file.
func (l *patchLoader) document(root *yaml.Node, inFile map[*yaml.Node]bool) {
	if root.Kind != yaml.MappingNode {
		l.problems.Add(l.notAMapping(root))
		return
	}
	expanded, err := subst.ExpandNode(subst.Source{File: l.src.File, Secret: l.src.Encrypted != nil}, root, l.scope)
	if err != nil {
		l.problems.AddErr(err)
		return
	}
	pd := &patchDoc{id: idOf(expanded.Doc), node: expanded.Doc}
	encrypted := carryOver(inFile, root, expanded.Doc)
	if p := l.identify(pd, expanded.Secret, encrypted); p != nil {
		l.problems.Add(p)
		return
	}
	marks := findMarks(l.src.File, expanded.Doc)
	l.problems.Add(marks.problems...)
	if len(marks.problems) > 0 {
		return
	}
	pd.directives = marks.directives
	for _, other := range l.patch.docs {
		if other.id == pd.id {
			l.problems.Add(diag.New(l.at(root), "the file has a second document %s", pd.shown).
				WithHint("the first is at line %d; write them as one, with `--- !replace` before it if it is to replace what is there", other.node.Line))
			return
		}
	}
	if err := l.decode(pd, marks.patchDelete); err != nil {
		l.problems.AddErr(l.masked(err, len(expanded.Secret) > 0))
		return
	}
	pd.zero = zeroLeaves(pd.node)
	l.patch.docs = append(l.patch.docs, pd)
	l.taint(pd, expanded.Secret, encrypted)
}

// identify masks the name of a document for messages if it is secret, and
// refuses a secret kind: what a document is stays readable in rendered files. A
// kind that Talos has is no secret, even if the whole file is encrypted.
func (l *patchLoader) identify(pd *patchDoc, expanded, encrypted map[*yaml.Node]bool) *diag.Problem {
	pd.shown = pd.id
	if name := valueAt(pd.node, "name"); expanded[name] || encrypted[name] {
		pd.shown.Name = secret.Mask
	}
	_, unknown := newTyped(pd.id)
	for _, key := range []string{"apiVersion", "kind"} {
		value := valueAt(pd.node, key)
		switch {
		case expanded[value]:
			return diag.New(l.at(value), "a secret variable in %s", key).
				WithHint("what a document is stays readable in rendered files")
		case encrypted[value] && unknown != nil:
			return diag.New(l.at(value), "%s is encrypted, and not one that talosgen's Talos library knows", key).
				WithHint("what a document is stays readable in rendered files: leave it readable here too, with unencrypted_regex: ^(apiVersion|kind|name)$")
		}
	}
	return nil
}

// carryOver translates a set of scalars of a document to the document with its
// variables substituted, which has the same shape.
func carryOver(scalars map[*yaml.Node]bool, from, to *yaml.Node) map[*yaml.Node]bool {
	if len(scalars) == 0 || from == to {
		return scalars
	}
	out := map[*yaml.Node]bool{}
	var walk func(from, to *yaml.Node)
	walk = func(from, to *yaml.Node) {
		if scalars[from] {
			out[to] = true
		}
		for i := range from.Content {
			walk(from.Content[i], to.Content[i])
		}
	}
	walk(from, to)
	return out
}

// decode fills in what is to be done with the document.
func (l *patchLoader) decode(pd *patchDoc, patchDelete bool) error {
	_, err := newTyped(pd.id)
	switch {
	case errors.Is(err, errUnknownKind):
		if pd.directives || patchDelete {
			return diag.New(l.at(pd.node), "an instruction to delete or replace in a document of kind %s, which talosgen's Talos library does not know", pd.id.Kind)
		}
		return l.decodeUnknown(pd)
	case pd.directives && patchDelete:
		return diag.New(l.at(pd.node), "$patch: delete beside !delete or !replace in one document").
			WithHint("write !delete in place of $patch: delete")
	case pd.directives:
		_, err = decodeNode(l.src.File, pd.shown, stripDirectives(pd.node))
		return err
	case patchDelete:
		return l.decodeSelectors(pd)
	}
	pd.typed, err = decodeNode(l.src.File, pd.shown, pd.node)
	return err
}

// decodeUnknown lets a document of a kind pass that a newer Talos may know.
func (l *patchLoader) decodeUnknown(pd *patchDoc) error {
	if pd.id.APIVersion == "" || pd.id.Kind == "" {
		missing := "apiVersion"
		if pd.id.Kind == "" {
			missing = "kind"
		}
		return diag.New(l.at(pd.node), "the document has no %s", missing).
			WithHint("a document has both apiVersion and kind; a patch for machine: and cluster: has neither")
	}
	if meant := nearKind(pd.id.Kind); meant != "" {
		return diag.New(l.at(valueAt(pd.node, "kind")), "there is no kind %s", pd.id.Kind).
			WithHint("did you mean %q?", meant)
	}
	pd.unknown = true
	l.patch.Warnings.Add(diag.New(l.at(pd.node), "kind %s (%s) is not known to talosgen's Talos library: the document is passed on as it is, unchecked", pd.id.Kind, pd.id.APIVersion).
		WithHint("check the spelling; only a newer Talos may know it"))
	return nil
}

// notAMapping explains what stands where a document is expected.
func (l *patchLoader) notAMapping(root *yaml.Node) *diag.Problem {
	if root.Kind == yaml.SequenceNode && len(root.Content) > 0 && valueAt(root.Content[0], "op") != nil {
		return diag.New(l.at(root), "a JSON6902 patch").
			WithHint("Talos applies these to single documents only and gives them up; write a strategic merge patch:\nadd and replace as the keys themselves, lists with !replace, removals with !delete")
	}
	return diag.New(l.at(root), "a patch is a mapping, this is %s", describeNode(root)).
		WithHint("write it like a part of a machine configuration, from machine: or cluster: or kind: down")
}

func describeNode(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		return "a single value"
	case yaml.AliasNode:
		return "an alias"
	default:
		return "a mapping"
	}
}
