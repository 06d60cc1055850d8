package render

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/leak"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// addonsDir is where addons have directories, among the shared patches and in
// an environment.
const addonsDir = "addons"

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

// values merges the values of an addon: those of the catalogue and of options,
// the shared ones of the user, those of the environment.
func (c *compiler) values(a catalogue.Addon, v *variant) (*addonValues, error) {
	all := &addonValues{merged: map[string]any{}}
	if len(a.Values) > 0 {
		own, err := manifest.Normalize(a.Values)
		if err != nil {
			return nil, err
		}
		all.layers = append(all.layers, valuesLayer{pos: c.Config.Near(a.Origin), values: own.(map[string]any)})
	}
	var problems diag.List
	for _, place := range []struct{ name, dir string }{
		{"shared values", path.Join(source.PatchesDir, addonsDir, a.Name)},
		{"values of the environment", c.Path(path.Join(addonsDir, a.Name))},
	} {
		for _, base := range valuesFiles {
			file := path.Join(place.dir, base)
			if _, there := c.Raw[file]; !there {
				continue
			}
			layer, err := c.valuesFile(file, v)
			problems.AddErr(err)
			if a.Source == nil || a.Source.Chart == nil {
				problems.Add(diag.New(diag.Pos{File: file}, "addon %s is made of no chart, so it has no values", a.Name).
					WithHint("change its objects with a kustomization in %s", c.Path(path.Join(addonsDir, a.Name))))
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
func (c *compiler) valuesFile(file string, v *variant) (*valuesLayer, error) {
	data, encrypted, err := c.content(file)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, c.notYAML(file, err, encrypted != nil)
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
			return nil, c.notYAML(file, err, true)
		}
		otherScalars(&doc, &committed, c.others())
	}
	expanded, err := subst.ExpandNode(subst.Source{File: file, Secret: encrypted != nil}, &doc, v.scope)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	if err := expanded.Doc.Decode(&values); err != nil {
		return nil, c.notYAML(file, err, encrypted != nil)
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
func (c *compiler) notYAML(file string, err error, encrypted bool) error {
	if encrypted {
		return diag.New(diag.Pos{File: file}, "what is encrypted in it is not valid YAML")
	}
	return diag.New(diag.Pos{File: file}, "not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
}

// otherScalars replaces the scalars of a document that are encrypted in the
// committed one by others of their shape.
func otherScalars(plain, committed *yaml.Node, others leak.Others) {
	if plain.Kind != committed.Kind {
		return
	}
	if plain.Kind == yaml.ScalarNode && isEncryptedText(committed.Value) {
		plain.Value = others.Of(plain.Value)
		return
	}
	if plain.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(plain.Content); i += 2 {
			for j := 0; j+1 < len(committed.Content); j += 2 {
				if committed.Content[j].Value == plain.Content[i].Value {
					otherScalars(plain.Content[i+1], committed.Content[j+1], others)
				}
			}
		}
		return
	}
	for i := range min(len(plain.Content), len(committed.Content)) {
		otherScalars(plain.Content[i], committed.Content[i], others)
	}
}

// pos is the place of a value: where the highest layer that has it, or the
// nearest mapping around it, says so.
func (a *addonValues) pos(keys []string) diag.Pos {
	for n := len(keys); n > 0; n-- {
		for _, l := range slices.Backward(a.layers) {
			if found := l.find(keys[:n]); found.File != "" {
				return found
			}
		}
	}
	return diag.Pos{}
}

// find is the place of a value in a layer; zero if it has none.
func (l valuesLayer) find(keys []string) diag.Pos {
	node := l.node(keys)
	if node == nil {
		return diag.Pos{}
	}
	return diag.Pos{File: l.file, Line: node.Line, Column: node.Column}
}

// node follows keys, and indexes of lists, through a document.
func (l valuesLayer) node(keys []string) *yaml.Node {
	at := l.doc
	for _, key := range keys {
		for at != nil && at.Kind == yaml.AliasNode {
			at = at.Alias
		}
		if at == nil {
			return nil
		}
		next := (*yaml.Node)(nil)
		switch at.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(at.Content); i += 2 {
				if at.Content[i].Value == key {
					next = at.Content[i+1]
				}
			}
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(at.Content) {
				next = at.Content[i]
			}
		}
		at = next
	}
	return at
}
