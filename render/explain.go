package render

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/legacy"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/options"
)

// Explained is a value of a machine configuration with the layers that had a
// say about it.
type Explained struct {
	Document string   `json:"document"` // kind and name; "v1alpha1" for machine: and cluster:
	Path     string   `json:"path"`     // within the document
	Value    string   `json:"value"`    // masked if it is secret
	Secret   bool     `json:"secret,omitempty"`
	Origins  []Origin `json:"origins"` // lowest first: the last one set the value
}

// Origin is a layer's say about a value.
type Origin struct {
	Layer string `json:"layer"`
	File  string `json:"file,omitempty"` // repository-relative; "" for what Talos generated, and for defaults
	Line  int    `json:"line,omitempty"`
	Value string `json:"value"` // what the layer set, masked if it is secret
}

// Name prints the value's place as [Repo.Explain] takes it: the path alone for
// machine: and cluster:, else with the document in front.
func (e Explained) Name() string {
	if e.Document == machine.MainID.String() || e.Document == valuesDocument {
		return e.Path
	}
	return e.Document + "." + e.Path
}

// Explain names, for every value of a node's configuration at or below a path,
// the layers that set it. An empty path means the whole configuration. In place
// of a node, addon/<name> stands for the values of an addon.
func (r *Repo) Explain(ctx context.Context, env, nodeName, path string) ([]Explained, error) {
	if name, ok := strings.CutPrefix(nodeName, addonPrefix); ok {
		return r.explainAddon(ctx, env, name, path)
	}
	c, err := r.compiler(ctx, env, false)
	if err != nil {
		return nil, err
	}
	nodes, err := c.Selected([]string{nodeName})
	if err != nil {
		return nil, err
	}
	return c.explain(nodes[0], path)
}

// explain is [Repo.Explain] for a node of a plan.
func (c *compiler) explain(n model.Node, path string) ([]Explained, error) {
	traced, err := c.trace(n)
	if err != nil {
		return nil, err
	}
	return explained(traced, n.Name, path)
}

// trace names the layers that had a say about each value of a node.
func (c *compiler) trace(n model.Node) ([]machine.Traced, error) {
	l, err := c.layersOf(n)
	if err != nil {
		return nil, err
	}
	patches := l.patches
	if l.options != nil {
		patches = append([]*machine.Patch{l.options}, patches...)
	}
	traced, err := machine.Trace(l.base, patches)
	if err != nil {
		return nil, err
	}
	return traced, c.nameOptions(n, traced)
}

// nameOptions gives values that Talos generated from options of cluster.yaml
// the place of the option: the line is what a user can change.
func (c *compiler) nameOptions(n model.Node, traced []machine.Traced) error {
	settings, err := options.Settings(c.Model, n)
	if err != nil {
		return err
	}
	follows, err := machine.Follows(settings, n.MachineRole(), c.secrets.Bundle)
	if err != nil {
		return err
	}
	for i := range traced {
		t := &traced[i]
		// A value that Talos generated is always the lowest.
		if len(t.Origins) == 0 || t.Origins[0].Layer != machine.GeneratedLayer {
			continue
		}
		if setting := follows(t.Document, t.Leaf.Path); setting != "" {
			index := t.Leaf.Path[len(t.Leaf.Path)-1].Index
			t.Origins[0].Layer, t.Origins[0].Pos = machine.OptionsLayer, options.SettingPos(c.Model, n, setting, index)
		}
	}
	return nil
}

func explained(traced []machine.Traced, nodeName, path string) ([]Explained, error) {
	var all []Explained
	var names []string
	documents := documentNames(traced)
	for _, t := range traced {
		x := Explained{Document: documents[t.Document], Path: t.Leaf.Path.String(), Value: display(t.Leaf.Value, t.Leaf.Kind, t.Secret), Secret: t.Secret}
		names = append(names, x.Name())
		if !below(x.Name(), path) {
			continue
		}
		for _, o := range t.Origins {
			x.Origins = append(x.Origins, origin(o))
		}
		all = append(all, x)
	}
	if len(all) == 0 {
		return nil, diag.On("node "+nodeName, "has no value at %q", path).
			WithHint("%s", pathHint(path, names)).WithCode(diag.Usage)
	}
	return all, nil
}

// defaultsLayer is where the values of options come from that cluster.yaml does
// not set, for people.
const defaultsLayer = "default of " + machine.OptionsLayer

func origin(o machine.Origin) Origin {
	if o.Layer == machine.OptionsLayer && o.Pos.Line == 0 {
		o.Layer, o.Pos.File = defaultsLayer, ""
	}
	return Origin{Layer: o.Layer, File: o.Pos.File, Line: o.Pos.Line, Value: shown(o.Value, o.Secret)}
}

// documentNames names each document for people; a secret name is masked.
func documentNames(traced []machine.Traced) map[machine.ID]string {
	names := map[machine.ID]string{}
	for _, t := range traced {
		id := t.Document
		if isName := len(t.Leaf.Path) == 1 && t.Leaf.Path[0].Key == "name"; isName && t.Secret {
			id.Name = secret.Mask
		} else if _, known := names[t.Document]; known {
			continue
		}
		names[t.Document] = id.String()
	}
	return names
}

func shown(value string, isSecret bool) string {
	if isSecret {
		return secret.Mask
	}
	return value
}

// display is shown for a value of any kind: what is empty looks as in YAML.
func display(value string, kind yamltext.Kind, isSecret bool) string {
	switch kind {
	case yamltext.EmptyMap:
		return "{}"
	case yamltext.EmptySequence:
		return "[]"
	case yamltext.Null:
		return "null"
	}
	return shown(value, isSecret)
}

// below reports whether a place is a path, or lies under it. Quotes do not
// count: a shell takes them off.
func below(name, path string) bool {
	name, path = plainPath(name), plainPath(path)
	rest, ok := strings.CutPrefix(name, path)
	return ok && (path == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// plainPath is a path without quotes, and without the name of the document that
// needs none.
func plainPath(path string) string {
	path = strings.TrimPrefix(path, machine.MainID.String()+".")
	return strings.TrimSuffix(strings.ReplaceAll(path, `"`, ""), ".")
}

// pathHint suggests places that resemble a path.
func pathHint(path string, names []string) string {
	if moved := movedTo(path, names); moved != "" {
		return moved
	}
	last := path[strings.LastIndexByte(path, '.')+1:]
	var near, as []string
	for _, n := range names {
		if strings.Contains(n, last) && len(near) < 5 {
			near = append(near, n)
		}
		as = append(as, firstKeys(n, strings.Count(path, ".")+1))
	}
	if len(near) > 0 {
		return "near it: " + strings.Join(near, ", ")
	}
	if s := diag.Suggest(path, as); s != "" {
		return s
	}
	return fmt.Sprintf("`talosgen explain <env> <node> --all` lists all %d", len(names))
}

// movedTo says in which documents of a configuration stands now what older Talos
// had at a path; nothing if none of them is there.
func movedTo(path string, names []string) string {
	var there []string
	for _, target := range legacy.MovedTo(plainPath(path)) {
		kind, _, _ := strings.Cut(target, ".")
		kind, _, _ = strings.Cut(kind, "/")
		switch {
		case slices.ContainsFunc(names, func(n string) bool { return below(n, target) }):
			there = append(there, target)
		case slices.ContainsFunc(names, func(n string) bool { return below(n, kind) || strings.HasPrefix(n, kind+"/") }):
			there = append(there, kind)
		}
	}
	if len(there) == 0 {
		return ""
	}
	return "Talos 1.14 moved it to " + strings.Join(there, ", ")
}

// firstKeys cuts a path off after n keys.
func firstKeys(path string, n int) string {
	for i, c := range path {
		if c == '.' {
			n--
		}
		if n == 0 {
			return path[:i]
		}
	}
	return path
}
