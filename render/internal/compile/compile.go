// Package compile makes the machine configuration of each node of a model: the
// generated base, the options of cluster.yaml, the patches of its layers, merged,
// traced and validated.
package compile

import (
	"fmt"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/cleartext"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/needs"
	"github.com/talosgen/talosgen/render/internal/options"
)

// Input is what configurations are made from.
type Input struct {
	Model  *model.Model
	Texts  *cleartext.Texts
	Bundle *machine.Bundle // the secrets of Talos
	Needs  []needs.Needs   // of the addons
	Now    time.Time       // of the placeholders that tell which values are secret
	// Placeholder is a bundle of [machine.PlaceholderBundle] for the contract, for who
	// compiles often; nil if one is to be made.
	Placeholder *machine.Bundle
	// Readable is what says in the clear what the cluster is, and Public everything
	// that anyone can read, for messages.
	Readable, Public *secret.Readable
}

// Compiler makes the configurations of a model. Work that nodes have in common is
// done once.
type Compiler struct {
	in          Input
	model       *model.Model
	placeholder *machine.Bundle
	multiDoc    bool // the contract has documents for what the v1alpha1 document held

	patches  *patches
	bases    map[string]*machine.Config
	pools    map[string]*machine.Patch // options of each pool
	composer *machine.Composer
	warnings diag.List
	warned   map[string]bool // nodes that there are warnings of
}

// New returns a compiler of a model.
func New(in Input) (*Compiler, error) {
	contract := in.Model.Config.Talos.ConfigContract
	placeholder := in.Placeholder
	if placeholder == nil {
		var err error
		if placeholder, err = machine.PlaceholderBundle(contract, in.Now); err != nil {
			return nil, err
		}
	}
	multiDoc, err := machine.MultiDocument(contract)
	if err != nil {
		return nil, err
	}
	return &Compiler{
		in: in, model: in.Model, placeholder: placeholder, multiDoc: multiDoc, patches: newPatches(in.Texts, multiDoc),
		bases: map[string]*machine.Config{}, pools: map[string]*machine.Patch{}, composer: machine.NewComposer(),
		warned: map[string]bool{},
	}, nil
}

// Warnings returns what there is to say of the configurations made so far.
func (c *Compiler) Warnings() diag.List {
	var all diag.List
	all.Add(c.warnings...)
	all.Add(c.patches.warnings...)
	return all
}

// layers are the parts of a node's configuration, lowest first.
type layers struct {
	base    *machine.Config
	options *machine.Patch // of the node alone; may be nil
	patches []*machine.Patch
}

// layersOf loads the layers of a node, without those that skip wants left out.
// Problems of patches that several nodes share are returned for the first of them
// only.
func (c *Compiler) layersOf(n model.Node, skip func(file string) bool) (layers, error) {
	var l layers
	var problems diag.List
	var err error
	l.base, err = c.Base(n)
	problems.AddErr(err)
	pool, err := c.poolOptions(n)
	problems.AddErr(err)
	if pool != nil {
		l.patches = append(l.patches, pool)
	}
	l.options, err = c.optionsPatch(n, options.OfNode(c.model, n))
	problems.AddErr(err)
	scope := n.Scope(c.model.Scope)
	ref := n.Ref()
	for _, group := range [][]layer.Layer{c.model.Layers.Role(ref.Role), c.model.Layers.Own(ref)} {
		for _, in := range group {
			for _, file := range in.Files {
				patch, err := c.patches.load(in, file, scope)
				problems.AddErr(err)
				if patch != nil && !skip(file) {
					l.patches = append(l.patches, patch)
				}
			}
		}
	}
	return l, problems.Err()
}

// noFile skips no patch.
func noFile(string) bool { return false }

// Compose makes the configuration of a node.
func (c *Compiler) Compose(n model.Node) (*machine.Config, error) { return c.composeWithout(n, noFile) }

func (c *Compiler) composeWithout(n model.Node, skip func(file string) bool) (*machine.Config, error) {
	l, err := c.layersOf(n, skip)
	if err != nil {
		return nil, err
	}
	cfg, warnings, err := c.composer.Compose(l.base, l.options, l.patches)
	c.warnings.Add(warnings...)
	c.warned[n.Name] = c.warned[n.Name] || len(warnings) > 0
	return cfg, err
}

// Warned reports whether there is something to say of the configuration of a node
// that was made.
func (c *Compiler) Warned(n model.Node, found *Findings) bool {
	return c.warned[n.Name] || found.about(n.Name)
}

// Base returns what lies below all patches of a node, generated once for nodes that
// have it in common.
func (c *Compiler) Base(n model.Node) (*machine.Config, error) {
	settings, err := options.Settings(c.model, n)
	if err != nil {
		return nil, err
	}
	key := fmt.Sprintf("%s %+v", n.MachineRole(), settings)
	if base := c.bases[key]; base != nil {
		return base, nil
	}
	base, err := machine.Generate(settings, n.MachineRole(), c.in.Bundle, c.placeholder)
	if err != nil {
		return nil, err
	}
	base.Readable = c.in.Readable
	c.bases[key] = base
	return base, nil
}

// poolOptions makes the options that the nodes of a pool share into a patch.
func (c *Compiler) poolOptions(n model.Node) (*machine.Patch, error) {
	if p, done := c.pools[n.Pool]; done {
		return p, nil
	}
	var p *machine.Patch
	shared, err := options.OfPool(c.model, n)
	if err == nil {
		p, err = c.optionsPatch(n, shared)
	}
	c.pools[n.Pool] = p
	return p, err
}

func (c *Compiler) optionsPatch(n model.Node, o machine.NodeOptions) (*machine.Patch, error) {
	return machine.OptionsPatch(c.model.Path(layer.ClusterFile), o, n.MachineRole(), c.model.Config.Talos.ConfigContract)
}
