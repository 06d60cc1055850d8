package addons

import (
	"maps"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/leak"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// valuesFiles are the files with values in such a directory; the second is
// encrypted.
var valuesFiles = []string{"values.yaml", "values.sops.yaml"}

// addonValues are the values of an addon, and the layers that they come from,
// lowest first.
type addonValues struct {
	merged map[string]any
	layers []valuesLayer
}

// valuesLayer is one say about the values of an addon.
type valuesLayer struct {
	name, file string
	pos        diag.Pos // of what has no place of its own
	values     map[string]any
	doc        *yaml.Node          // nil for those of the catalogue
	secret     map[*yaml.Node]bool // scalars of doc
	encrypted  bool
}

// reader reads the files that a user has for addons, with the secrets of a variant.
type reader struct {
	folders
	others leak.Others // take the place of secrets
}

// values merges the values of an addon: those of the catalogue and of options,
// the shared ones of the user, those of the environment.
func (r reader) values(a catalogue.Addon, v *variant) (*addonValues, error) {
	all := &addonValues{merged: map[string]any{}}
	if len(a.Values) > 0 {
		own, err := manifest.Normalize(a.Values)
		if err != nil {
			return nil, err
		}
		all.layers = append(all.layers, valuesLayer{pos: r.model.Config.Near(a.Origin), values: own.(map[string]any)})
	}
	var problems diag.List
	for _, place := range []struct{ name, dir string }{
		{"shared values", path.Join(layer.PatchesDir, layer.AddonsDir, a.Name)},
		{"values of the environment", r.dir(a.Name)},
	} {
		for _, base := range valuesFiles {
			file := path.Join(place.dir, base)
			if _, there := r.texts.Files[file]; !there {
				continue
			}
			layer, err := r.valuesFile(file, v)
			problems.AddErr(err)
			if a.Source == nil || a.Source.Chart == nil {
				problems.Add(diag.New(diag.Pos{File: file}, "addon %s is made of no chart, so it has no values", a.Name).
					WithHint("change its objects with a kustomization in %s", r.dir(a.Name)))
			}
			if layer != nil {
				layer.name = place.name
				all.layers = append(all.layers, *layer)
			}
		}
	}
	for _, l := range all.layers {
		all.merged = mergeValues(all.merged, l.values)
	}
	return all, problems.Err()
}

// mergeValues lays values over others as Helm does: mappings are merged, all
// else is replaced, and null takes away.
func mergeValues(under, over map[string]any) map[string]any {
	out := maps.Clone(under)
	for key, value := range over {
		below, isMap := out[key].(map[string]any)
		if above, both := value.(map[string]any); both && isMap {
			value = mergeValues(below, above)
		}
		out[key] = value
	}
	return out
}

// valuesFile reads a file with values.
func (r reader) valuesFile(file string, v *variant) (*valuesLayer, error) {
	data, encrypted, err := r.texts.Content(file)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, notYAML(file, err, encrypted != nil)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, diag.New(diag.Pos{File: file, Line: doc.Content[0].Line}, "values are a mapping")
	}
	if encrypted != nil && !v.real {
		var committed yaml.Node
		if err := yaml.Unmarshal(encrypted, &committed); err != nil {
			return nil, notYAML(file, err, true)
		}
		otherScalars(&doc, &committed, r.others)
	}
	expanded, err := subst.ExpandNode(subst.Source{File: file, Secret: encrypted != nil}, &doc, v.scope)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	if err := expanded.Doc.Decode(&values); err != nil {
		return nil, notYAML(file, err, encrypted != nil)
	}
	normal, err := manifest.Normalize(values)
	if err != nil {
		return nil, diag.New(diag.Pos{File: file}, "%v", err)
	}
	return &valuesLayer{
		file: file, pos: diag.Pos{File: file}, values: normal.(map[string]any), doc: expanded.Doc.Content[0], secret: expanded.Secret, encrypted: encrypted != nil,
	}, nil
}

// notYAML says that a file cannot be read, without a piece of it if it was
// encrypted.
func notYAML(file string, err error, encrypted bool) error {
	if encrypted {
		return diag.New(diag.Pos{File: file}, "what is encrypted in it is not valid YAML")
	}
	return diag.New(diag.Pos{File: file}, "not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
}
