package nodeconfig

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secret"
	minors "github.com/talosgen/talosgen/internal/versions"
	"github.com/talosgen/talosgen/internal/versions/kubeflags"
	"github.com/talosgen/talosgen/internal/yamltext"
)

// starts are the keys beside the image of a program that it is started with. Another
// version may not know what they name, or not start without it.
var starts = []string{"extraArgs", "extraConfig", "config"}

// WithSection returns the configuration with another image of a program, and with what
// the desired one starts it with, and whether that is a change. Configurations of two
// contracts have these in different places: only the image moves then.
func (c *Config) WithSection(program, image string, desired *Config) (send secret.String, changed bool, err error) {
	e, found := c.imageEdit(program, image)
	if !found {
		return secret.String{}, false, c.problem("it has no place for the image of %s", program)
	}
	edits := []edit{}
	if c.Images()[program] != image {
		edits = append(edits, e)
	}
	if c.documents() == desired.documents() {
		edits = append(edits, c.startEdits(e, desired)...)
	}
	if len(edits) == 0 {
		return secret.String{}, false, nil
	}
	text, err := edited(c, edits)
	return secret.New(string(text)), true, err
}

// startEdits make what stands beside an image what the desired configuration has there.
func (c *Config) startEdits(image edit, desired *Config) (edits []edit) {
	above := image.path[:len(image.path)-1]
	for _, key := range starts {
		path := extend(above, yamltext.Key(key))
		a, d := c.at(image.id, path), desired.at(image.id, path)
		if (a == nil) != (d == nil) || a != nil && !same(a, d) {
			edits = append(edits, edit{id: image.id, path: path, node: d})
		}
	}
	return edits
}

// at is what stands below keys of a document; nil if nothing does.
func (c *Config) at(id ID, path yamltext.Path) *yaml.Node {
	if d := c.find(id); d != nil {
		return at(d.root, keysOf(path)...)
	}
	return nil
}

// Sets are the flags, feature gates and admission plugins that the configuration starts
// programs of Kubernetes with.
func (c *Config) Sets() (all []kubeflags.Set) {
	for _, d := range c.docs {
		if kubeflags.Has(d.id.Kind) {
			leaves(d.id, nil, d.root, false, func(l leaf) {
				all = append(all, kubeflags.Of(l.id.Kind, l.path, l.node.Value)...)
			})
		}
	}
	return all
}

// tooEarly is the reason.
const tooEarly = "the Kubernetes that runs does not know it yet"

// early reports whether a value names what begins with a later Kubernetes than the one
// that runs: it is held until that runs, and moves with its image.
func early(l leaf, running Running) bool {
	minor := minors.Minor(running.Kubernetes)
	for _, s := range kubeflags.Of(l.id.Kind, l.path, l.node.Value) {
		if minor > 0 && s.Early(minor) {
			return true
		}
	}
	return false
}

// argument is the place of a whole flag, also if its value is a list.
func argument(l leaf) place {
	keys := keysOf(l.path)
	for i, e := range l.path {
		if e.Index >= 0 {
			keys = keys[:i]
			break
		}
	}
	return place{l.id.Kind, strings.Join(keys, ".")}
}
