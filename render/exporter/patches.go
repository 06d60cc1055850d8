package exporter

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/cleartext"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/residue"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/render/internal/toolrepo"
)

// patchesOf are the patches of a node, in order, with values in the place of variables.
func patchesOf(m *model.Model, n model.Node, texts *cleartext.Texts) (all []toolrepo.Patch, err error) {
	scope := n.Scope(m.Scope)
	for _, l := range m.Layers.For(n.Ref()) {
		for _, file := range l.Files {
			data, encrypted, err := texts.Content(file)
			if err != nil {
				return nil, err
			}
			p := toolrepo.Patch{File: file, Layer: layerOf(l), Secret: encrypted != nil, Own: bytes.Contains(data, []byte("${"+subst.ReservedPrefix))}
			p.Data, p.Why = resolved(file, data, scope, &p.Secret)
			all = append(all, p)
		}
	}
	return all, nil
}

// layerOf is the place of a layer, which environments share or not.
func layerOf(l layer.Layer) residue.Layer {
	switch l.Kind {
	case layer.Common:
		return residue.Common
	case layer.Pool:
		return residue.Layer("pools/" + l.Target)
	case layer.Node:
		return residue.Layer("nodes/" + l.Target)
	}
	return residue.Layer(l.Target)
}

// resolved is the text of a patch with values in the place of variables, comments
// included, and why there is none: what a value does to the text has to be what it does
// to the patch.
func resolved(file string, data []byte, scope *subst.Scope, hidden *bool) (text []byte, why string) {
	docs, err := documents(data)
	if err != nil {
		return nil, "it cannot be read"
	}
	for _, doc := range docs {
		if directs(doc) {
			return nil, "it has directives that only talosgen knows"
		}
	}
	text = data
	if subst.NeedsExpansion(data) {
		expanded, _, secret, err := subst.Expand(string(data), scope)
		if err != nil {
			return nil, "it has text that is no variable"
		}
		text, *hidden = []byte(expanded), *hidden || secret
	}
	if *hidden && len(docs) != 1 {
		return nil, "it has secrets and several documents"
	}
	return text, differs(file, docs, text, scope)
}

// differs says why a text with values is another patch than the one with variables.
func differs(file string, docs []*yaml.Node, text []byte, scope *subst.Scope) string {
	const why = "its variables are more than text"
	after, err := documents(text)
	if err != nil || len(after) != len(docs) {
		return why
	}
	for i, doc := range docs {
		want, err := subst.ExpandNode(subst.Source{File: file, Secret: true}, doc, scope)
		if err != nil || !residue.Same(want.Doc, after[i]) {
			return why
		}
	}
	return ""
}

func documents(data []byte) (docs []*yaml.Node, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, err
		}
		if len(doc.Content) > 0 {
			docs = append(docs, doc.Content[0])
		}
	}
}

// directs reports whether a patch has talosgen's own tags.
func directs(n *yaml.Node) bool {
	if n.Tag == "!delete" || n.Tag == "!replace" {
		return true
	}
	for _, c := range n.Content {
		if directs(c) {
			return true
		}
	}
	return false
}

// encryptedValues are the values in the clear that are encrypted in a file.
func encryptedValues(encrypted, plain []byte) (all []secret.String) {
	from, err := documents(encrypted)
	to, second := documents(plain)
	if err != nil || second != nil {
		return nil
	}
	var walk func(e, p *yaml.Node)
	walk = func(e, p *yaml.Node) {
		switch {
		case e.Kind == yaml.ScalarNode && sopsage.IsEncryptedValue(e.Value):
			all = append(all, secret.New(p.Value))
		case e.Kind == yaml.SequenceNode:
			for i := range min(len(e.Content), len(p.Content)) {
				walk(e.Content[i], p.Content[i])
			}
		case e.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(e.Content); i += 2 {
				if value := residue.Child(p, e.Content[i].Value); value != nil {
					walk(e.Content[i+1], value)
				}
			}
		}
	}
	for i := range min(len(from), len(to)) {
		walk(from[i], to[i])
	}
	return all
}
