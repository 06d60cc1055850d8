package compile

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/cleartext"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/legacy"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// patches loads patches, those that several nodes share once.
type patches struct {
	texts    *cleartext.Texts
	multiDoc bool // the contract has documents for what the v1alpha1 document held

	loaded   map[string]*machine.Patch // shared ones
	failed   map[string]bool           // shared ones with problems that are reported
	warnings diag.List

	// Without keys:
	uncertain  map[string]bool // those that hold placeholders
	incomplete bool            // of some, parts were left out
}

func newPatches(texts *cleartext.Texts, multiDoc bool) *patches {
	return &patches{
		texts: texts, multiDoc: multiDoc,
		loaded: map[string]*machine.Patch{}, failed: map[string]bool{}, uncertain: map[string]bool{},
	}
}

// load loads a patch for a node; once for all nodes that apply it, unless it
// is the node's own or refers to variables of the node.
func (p *patches) load(in layer.Layer, file string, scope *subst.Scope) (*machine.Patch, error) {
	if known := p.loaded[file]; known != nil || p.failed[file] {
		return known, nil
	}
	data, encrypted, err := p.texts.Content(file)
	if err != nil {
		p.failed[file] = true
		return nil, err
	}
	if len(data) == 0 && encrypted != nil {
		return nil, nil // nothing is readable without keys
	}
	perNode := in.Kind == layer.Node || mentionsNode(data)
	src := machine.Source{File: file, Layer: describe(in), Data: data, Encrypted: encrypted}
	options := machine.LoadOptions{Scope: scope, PerNode: perNode, Inspect: p.inspector(in, file, encrypted != nil)}
	load := machine.LoadPatch
	if p.texts.Keyless() {
		load = p.loadKeyless
	}
	patch, err := load(src, options)
	if err != nil {
		p.failed[file] = true
		return nil, err
	}
	if !perNode {
		p.loaded[file] = patch
	}
	return patch, nil
}

// mentionsNode reports whether a patch may refer to variables of a node. In
// double quotes, the brace behind a dollar sign may be written as an escape.
func mentionsNode(data []byte) bool {
	return bytes.Contains(data, []byte("${"+subst.ReservedPrefix)) || bytes.Contains(data, []byte(`$\`))
}

// inspector looks for fields that documents of a newer contract took over.
func (p *patches) inspector(in layer.Layer, file string, encrypted bool) func([]*yaml.Node) error {
	if !p.multiDoc {
		return nil
	}
	workers := in.Kind != layer.Role || in.Target == string(machine.Worker)
	return func(docs []*yaml.Node) error {
		var problems diag.List
		problems.Add(legacy.Conflicts(file, docs, legacy.Options{Workers: workers, HideValues: encrypted})...)
		return problems.Err()
	}
}

// describe names a layer for people.
func describe(l layer.Layer) string {
	scope := "shared"
	if l.Scope == layer.Env {
		scope = "environment"
	}
	parts := []string{scope, string(l.Kind)}
	if l.Target != "" {
		parts = append(parts, l.Target)
	}
	return strings.Join(parts, " ")
}
