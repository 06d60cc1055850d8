package render

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/legacy"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/options"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// compiler makes the machine configurations of a plan.
type compiler struct {
	*plan
	ctx         context.Context
	placeholder *machine.Bundle
	multiDoc    bool // the contract has documents for what the v1alpha1 document held

	bases    map[string]*machine.Config
	pools    map[string]*machine.Patch // options of each pool
	patches  map[string]*machine.Patch // shared patches that were loaded
	failed   map[string]bool           // shared patches with problems that are reported
	plain    map[string][]byte         // decrypted patches
	composer *machine.Composer
	warnings diag.List
	apis     []string // what the addons rendered so far define

	// Without keys:
	uncertain     map[string]bool // patches that hold placeholders
	skipUncertain bool            // leave them out
	incomplete    bool            // of some, parts were left out
}

// compiler reads an environment, and returns what makes its configurations.
// What comes with an error is good for [compiler.refused] only.
func (r *Repo) compiler(ctx context.Context, env string, keyless bool) (*compiler, error) {
	e, err := r.src.ReadEnvironment(env)
	if err != nil {
		return nil, err
	}
	p, err := understand(ctx, e, keyless)
	if err != nil {
		return &compiler{plan: p}, err
	}
	return newCompiler(ctx, p)
}

func newCompiler(ctx context.Context, p *plan) (*compiler, error) {
	stand, err := machine.PlaceholderBundle(p.Config.Talos.ConfigContract, p.Repo.World.Now())
	if err != nil {
		return nil, err
	}
	multiDoc, err := machine.MultiDocument(p.Config.Talos.ConfigContract)
	if err != nil {
		return nil, err
	}
	return &compiler{
		plan: p, ctx: ctx, placeholder: stand, multiDoc: multiDoc,
		bases: map[string]*machine.Config{}, pools: map[string]*machine.Patch{},
		patches: map[string]*machine.Patch{}, failed: map[string]bool{}, plain: map[string][]byte{},
		composer: machine.NewComposer(), uncertain: map[string]bool{},
	}, nil
}

// layers are the parts of a node's configuration, lowest first.
type layers struct {
	base    *machine.Config
	options *machine.Patch // of the node alone; may be nil
	patches []*machine.Patch
}

// layersOf loads the layers of a node. Problems of patches that several nodes
// share are returned for the first of them only.
func (c *compiler) layersOf(n model.Node) (layers, error) {
	var l layers
	var problems diag.List
	var err error
	l.base, err = c.base(n)
	problems.AddErr(err)
	pool, err := c.poolOptions(n)
	problems.AddErr(err)
	if pool != nil {
		l.patches = append(l.patches, pool)
	}
	l.options, err = machine.OptionsPatch(c.File(source.ClusterFile), options.OfNode(c.Model, n), n.MachineRole(), c.Config.Talos.ConfigContract)
	problems.AddErr(err)
	scope := n.Scope(c.Scope)
	ref := n.Ref()
	for _, group := range [][]layer.Layer{c.Layers.Role(ref.Role), c.Layers.Own(ref)} {
		for _, in := range group {
			for _, file := range in.Files {
				patch, err := c.patch(n, in, file, scope)
				problems.AddErr(err)
				if patch != nil && !(c.skipUncertain && c.uncertain[file]) {
					l.patches = append(l.patches, patch)
				}
			}
		}
	}
	return l, problems.Err()
}

// compose makes the configuration of a node.
func (c *compiler) compose(n model.Node) (*machine.Config, error) {
	l, err := c.layersOf(n)
	if err != nil {
		return nil, err
	}
	cfg, warnings, err := c.composer.Compose(l.base, l.options, l.patches)
	c.warnings.Add(warnings...)
	return cfg, err
}

// base generates what lies below all patches, once for nodes that have it in
// common.
func (c *compiler) base(n model.Node) (*machine.Config, error) {
	settings, err := options.Settings(c.Model, n)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s %+v", n.MachineRole(), settings)
	if base := c.bases[key]; base != nil {
		return base, nil
	}
	base, err := machine.Generate(settings, n.MachineRole(), c.secrets.Bundle, c.placeholder)
	if err != nil {
		return nil, err
	}
	base.Readable = c.Readable
	c.bases[key] = base
	return base, nil
}

// poolOptions makes the options that the nodes of a pool share into a patch.
func (c *compiler) poolOptions(n model.Node) (*machine.Patch, error) {
	if p, done := c.pools[n.Pool]; done {
		return p, nil
	}
	var p *machine.Patch
	options, err := options.OfPool(c.Model, n)
	if err == nil {
		p, err = machine.OptionsPatch(c.File(source.ClusterFile), options, n.MachineRole(), c.Config.Talos.ConfigContract)
	}
	c.pools[n.Pool] = p
	return p, err
}

// patch loads a patch for a node; once for all nodes that apply it, unless it
// is the node's own or refers to variables of the node.
func (c *compiler) patch(n model.Node, in layer.Layer, file string, scope *subst.Scope) (*machine.Patch, error) {
	if p := c.patches[file]; p != nil || c.failed[file] {
		return p, nil
	}
	data, encrypted, err := c.content(file)
	if err != nil {
		c.failed[file] = true
		return nil, err
	}
	if len(data) == 0 && encrypted != nil {
		return nil, nil // nothing is readable without keys
	}
	perNode := in.Kind == layer.Node || mentionsNode(data)
	src := machine.Source{File: file, Layer: describe(in), Data: data, Encrypted: encrypted}
	options := machine.LoadOptions{Scope: scope, PerNode: perNode, Inspect: c.inspector(in, file, encrypted != nil)}
	load := machine.LoadPatch
	if c.secrets.Operator == nil {
		load = c.loadKeyless
	}
	p, err := load(src, options)
	if err != nil {
		c.failed[file] = true
		return nil, err
	}
	if !perNode {
		c.patches[file] = p
	}
	return p, nil
}

// content returns a patch in the clear, and as it is committed if that is
// encrypted.
func (c *compiler) content(file string) (data, encrypted []byte, err error) {
	data = c.Raw[file]
	if !sopsage.NamedEncrypted(file) && !sopsage.IsEncryptedYAML(data) {
		return data, nil, nil
	}
	plain, done := c.plain[file]
	if !done {
		if c.secrets.Operator == nil {
			plain, err = c.placeholdersIn(file, data)
		} else {
			plain, err = c.Keys.DecryptYAML(c.ctx, file, data)
			c.maskPatch(plain, data)
		}
		if err != nil {
			return nil, nil, err
		}
		c.plain[file] = plain
	}
	return plain, data, nil
}

// maskPatch makes the masker know what is encrypted in a patch: the text of a
// panic may hold it.
func (c *compiler) maskPatch(plain, encrypted []byte) {
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && !bytes.Contains(encrypted, []byte(n.Value)) {
			c.Repo.World.Masker.Add(secret.New(n.Value))
		}
		for _, child := range n.Content {
			walk(child)
		}
	}
	dec := yaml.NewDecoder(bytes.NewReader(plain))
	for {
		var doc yaml.Node
		if dec.Decode(&doc) != nil {
			return // nothing more; what is wrong is reported when it is loaded
		}
		walk(&doc)
	}
}

// mentionsNode reports whether a patch may refer to variables of a node. In
// double quotes, the brace behind a dollar sign may be written as an escape.
func mentionsNode(data []byte) bool {
	return bytes.Contains(data, []byte("${"+source.ReservedPrefix)) || bytes.Contains(data, []byte(`$\`))
}

// needsSecrets reports whether a patch is encrypted, or refers to a secret
// variable.
func (c *compiler) needsSecrets(data, encrypted []byte) bool {
	return encrypted != nil || bytes.Contains(data, []byte(`$\`)) || c.refersToSecret(string(data))
}

// inspector looks for fields that documents of a newer contract took over.
func (c *compiler) inspector(in layer.Layer, file string, encrypted bool) func([]*yaml.Node) error {
	if !c.multiDoc {
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
