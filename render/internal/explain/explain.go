// Package explain says of values which layers set them, for people: of those of
// machine configurations, and of addons. It is pure.
package explain

import (
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// Value is a value of a machine configuration, or of an addon, with the layers that
// had a say about it.
type Value struct {
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

// Name prints the value's place as explain takes it: the path alone for
// machine: and cluster:, else with the document in front.
func (e Value) Name() string {
	if e.Document == machine.MainID.String() || e.Document == ValuesDocument {
		return e.Path
	}
	return e.Document + "." + e.Path
}

// ValuesDocument is the document of the values of addons.
const ValuesDocument = "values"

// Node returns the values of a node's configuration at or below a path; all, if the
// path is empty.
func Node(traced []machine.Traced, nodeName, path string) ([]Value, error) {
	var all []Value
	var names []string
	documents := documentNames(traced)
	for _, t := range traced {
		x := Value{Document: documents[t.Document], Path: t.Leaf.Path.String(), Value: Display(t.Leaf.Value, t.Leaf.Kind, t.Secret), Secret: t.Secret}
		names = append(names, x.Name())
		if !Below(x.Name(), path) {
			continue
		}
		for _, o := range t.Origins {
			x.Origins = append(x.Origins, origin(o))
		}
		all = append(all, x)
	}
	if len(all) == 0 {
		return nil, diag.On("node "+nodeName, "has no value at %q", path).
			WithHint("%s", Near(path, names)).WithCode(diag.Usage)
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
	return Origin{Layer: o.Layer, File: o.Pos.File, Line: o.Pos.Line, Value: Shown(o.Value, o.Secret)}
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

// Shown returns a value for people: masked, if it is secret.
func Shown(value string, isSecret bool) string {
	if isSecret {
		return secret.Mask
	}
	return value
}

// Display returns a value of any kind for people: masked, if it is secret; what is
// empty looks as in YAML.
func Display(value string, kind yamltext.Kind, isSecret bool) string {
	switch kind {
	case yamltext.EmptyMap:
		return "{}"
	case yamltext.EmptySequence:
		return "[]"
	case yamltext.Null:
		return "null"
	}
	return Shown(value, isSecret)
}
