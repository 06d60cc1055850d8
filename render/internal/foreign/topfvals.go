package foreign

import (
	"cmp"
	"io/fs"
	"regexp"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
)

// valsReference is a value that vals reads elsewhere, as topf recognises it.
var valsReference = regexp.MustCompile(`ref\+[a-zA-Z0-9]+://`)

// topfReferences refuses references of vals in topf.yaml: templates put what they stand
// for anywhere into the configurations, where nothing tells that it is a secret.
func (r *generated) topfReferences() error {
	data, err := fs.ReadFile(r.Files, r.file)
	var doc yaml.Node
	if err != nil || yaml.Unmarshal(data, &doc) != nil {
		return err // it was read before
	}
	var problems diag.List
	eachScalar(nil, &doc, func(_ yamltext.Path, n *yaml.Node) {
		if valsReference.MatchString(n.Value) {
			problems.Add(diag.New(diag.Pos{File: r.file, Line: n.Line, Column: n.Column}, "a reference of vals: what it stands for is a secret that cannot be told from other values of the configurations").
				WithHint("put the value in its place, encrypt it with sops, and import again"))
		}
	})
	return problems.Err()
}

// topfSecrets takes down what references of vals in a patch stand for: it is at the same
// place of the configurations.
func (r *generated) topfSecrets(file string, data []byte) error {
	docs, err := documents(file, data)
	if err != nil {
		return nil // topf cannot read it either, so it is not in the configurations
	}
	var problems diag.List
	for _, doc := range docs {
		if len(doc.Content) == 0 {
			continue
		}
		root := doc.Content[0]
		eachScalar(nil, root, func(at yamltext.Path, n *yaml.Node) {
			if !valsReference.MatchString(n.Value) {
				return
			}
			for _, s := range r.valuesAt(Text(root, "kind"), Text(root, "name"), at) {
				if !s.Recognisable() {
					problems.Add(diag.New(diag.Pos{File: file, Line: n.Line, Column: n.Column}, "a reference of vals, and what it stands for is too short to be told from other text").
						WithHint("put the value in its place, and import again"))
					return
				}
				r.origin.Secrets = append(r.origin.Secrets, s)
				r.Mask(s)
			}
		})
	}
	return problems.Err()
}

// valuesAt are the texts that the configurations have at a place of a document, in any
// item of a list.
func (r *generated) valuesAt(kind, name string, at yamltext.Path) (found []secret.String) {
	for _, m := range r.origin.Machines {
		for _, d := range m.Config.Documents() {
			root, err := d.Tree()
			if err != nil || d.ID.Name != name || d.ID.Kind != cmp.Or(kind, machine.MainID.Kind) {
				continue
			}
			for _, n := range nodesAt(root, at) {
				if n.Kind == yaml.ScalarNode && n.Value != "" && !valsReference.MatchString(n.Value) {
					found = append(found, secret.New(n.Value))
				}
			}
		}
	}
	return found
}

// nodesAt are the values at a place, in any item of a list.
func nodesAt(root *yaml.Node, at yamltext.Path) []*yaml.Node {
	nodes := []*yaml.Node{root}
	for _, step := range at {
		var below []*yaml.Node
		for _, n := range nodes {
			if step.Index >= 0 {
				below = append(below, items(n)...)
			} else if c := residue.Child(n, step.Key); c != nil {
				below = append(below, c)
			}
		}
		nodes = below
	}
	return nodes
}
