package fit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/secretplaces"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
)

// hider puts variables into the place of secrets, and of versions.
type hider struct {
	*builder
	names map[string]string // of secrets, by their values
	to    map[string]secret.String
}

func newHider(m *builder, e *Environment) *hider {
	h := &hider{builder: m, names: map[string]string{}, to: e.Variables}
	for name, s := range m.Origin.Variables {
		if known := h.names[s.Reveal()]; known == "" || name < known {
			h.names[s.Reveal()] = name
		}
	}
	return h
}

// changes returns changes as they stand in a patch.
func (h *hider) changes(l residue.Layer, all []residue.Change) []residue.Change {
	out := slices.Clone(all)
	for i, c := range out {
		if c.Value == nil {
			out[i].Path = escapeAll(c.Path)
			continue
		}
		var path yamltext.Path
		for _, key := range c.Path {
			path = append(path, yamltext.Key(key))
		}
		kind := c.ID.Kind
		if c.ID.IsMain() {
			kind = ""
		}
		w := walk{hider: h, layer: l, id: c.ID, kind: kind}
		out[i].Value, out[i].Path = w.value(path, c.Value), escapeAll(c.Path)
	}
	return out
}

func escapeAll(keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = escape(key)
	}
	return out
}

// escape writes a text so that a patch gives it back.
func escape(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// walk goes through a value of a patch.
type walk struct {
	*hider
	layer residue.Layer
	id    machine.ID
	kind  string
}

// value copies a value with variables in the place of secrets.
func (w walk) value(path yamltext.Path, n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, item := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			c.Content[i] = w.value(append(path[:len(path):len(path)], yamltext.Index(i)), item)
		case i%2 == 0:
			key := *item
			key.Value = escape(key.Value)
			c.Content[i] = &key
		default:
			c.Content[i] = w.value(append(path[:len(path):len(path)], yamltext.Key(n.Content[i-1].Value)), item)
		}
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || n.Value == "" {
		return &c
	}
	if w.secret(path, n.Value) {
		c.Value, c.Style = "${"+w.name(path, n.Value)+"}", yaml.DoubleQuotedStyle
		return &c
	}
	c.Value = w.versioned(path, escape(n.Value))
	return &c
}

// versioned puts the variables of versions into the names of images.
func (w walk) versioned(path yamltext.Path, text string) string {
	if len(path) == 0 || path[len(path)-1].Key != "image" {
		return text
	}
	if image, found := strings.CutSuffix(text, ":"+w.versions.talos); found && strings.Contains(image, "installer") {
		return image + ":" + w.version(w.versions.talos, talosNames)
	}
	if image, found := strings.CutSuffix(text, ":v"+w.versions.kubernetes); found {
		return image + ":" + w.version("v"+w.versions.kubernetes, kubernetesNames)
	}
	return text
}

// secret reports whether a value has to be hidden: it is one for certain, it was
// encrypted before, it holds a secret of the cluster, or it looks like one.
func (w walk) secret(path yamltext.Path, text string) bool {
	if secretplaces.Certain(w.kind, path) || secretplaces.Holds(text) || w.Origin.Encrypts(text) {
		return true
	}
	for _, s := range w.Bundle.Values() {
		if s.Recognisable() && strings.Contains(text, s.Reveal()) {
			return true
		}
	}
	if !secretplaces.Possible(w.kind, path) {
		return false
	}
	last := ""
	for _, e := range path {
		if e.Key != "" {
			last = e.Key
		}
	}
	return secretplaces.Named(last) || strings.ContainsAny(text, "=:\n") && secretplaces.Named(text)
}

var notInVariable = regexp.MustCompile(`[^A-Z0-9]+`)

// name is the variable of a secret value: called after its place.
func (w walk) name(path yamltext.Path, text string) string {
	if known := w.names[text]; known != "" {
		return known
	}
	parts := []string{}
	if w.kind != "" {
		parts = append(parts, strings.TrimSuffix(w.kind, "Config"), w.id.Name)
	}
	for i, e := range path {
		if e.Key != "" && (w.kind != "" || i > 0) {
			parts = append(parts, e.Key)
		}
	}
	base := strings.Trim(notInVariable.ReplaceAllString(strings.ToUpper(words(strings.Join(parts, "_"))), "_"), "_")
	if base == "" || base[0] >= '0' && base[0] <= '9' || strings.HasPrefix(base, "NODE_") {
		base = "IMPORTED_" + base
	}
	name := base
	for i := 2; ; i++ {
		if _, taken := w.to[name]; !taken {
			break
		}
		name = fmt.Sprintf("%s_%d", base, i)
	}
	w.names[text] = name
	w.to[name] = secret.New(text)
	w.Mask(secret.New(text))
	return name
}

var wordEnd = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// words parts the words of a key: privateKey is private_Key.
func words(text string) string { return wordEnd.ReplaceAllString(text, "${1}_${2}") }
