package addons

import (
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/subst"
	"go.yaml.in/yaml/v4"
)

// withManifests adds the manifests in files, with variables in their place.
func (r reader) withManifests(a catalogue.Addon, v *variant, files []string, objects, crds []manifest.Object) ([]manifest.Object, error) {
	var problems diag.List
	objects = slices.Clone(objects)
	for _, file := range files {
		if ext := path.Ext(file); ext != ".yaml" && ext != ".yml" {
			problems.Add(diag.New(diag.Pos{File: file}, "not a manifest").
				WithHint("manifests end with .yaml; other files are for a kustomization.yaml beside them"))
			continue
		}
		added, err := r.manifests(file, v)
		problems.AddErr(err)
		objects = append(objects, added...)
	}
	manifest.NewScopes(crds...).SetNamespace(a.Namespace, objects)
	return objects, problems.Err()
}

// manifests reads a file with manifests of the user.
func (r reader) manifests(file string, v *variant) ([]manifest.Object, error) {
	data, encrypted, err := r.texts.Content(file)
	if err != nil {
		return nil, err
	}
	if encrypted == nil && !subst.NeedsExpansion(data) {
		return manifest.Parse(file, data)
	}
	var committed []*yaml.Node
	if encrypted != nil {
		if committed, err = documents(encrypted); err != nil {
			return nil, notYAML(file, err, true)
		}
	}
	docs, err := documents(data)
	if err != nil {
		return nil, notYAML(file, err, encrypted != nil)
	}
	var text strings.Builder
	var problems diag.List
	for i, doc := range docs {
		if !v.real && i < len(committed) {
			otherScalars(doc, committed[i], r.others)
		}
		expanded, err := subst.ExpandNode(subst.Source{File: file, Secret: encrypted != nil}, doc, v.scope)
		problems.AddErr(err)
		out, err := yaml.Marshal(expanded.Doc)
		if err != nil {
			return nil, notYAML(file, err, encrypted != nil)
		}
		text.WriteString("---\n" + string(out))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return manifest.Parse(file, []byte(text.String()))
}

// documents takes a file of YAML apart.
func documents(data []byte) ([]*yaml.Node, error) {
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var all []*yaml.Node
	for {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, &doc)
	}
}
