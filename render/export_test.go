package render

import (
	"context"

	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// PatchTrial renders the first node of an environment again and again with
// another text of one patch, without reading and decrypting everything anew.
// With encrypted set, the patch counts as one of which every value was
// encrypted, and text is what was in it.
func (r *Repo) PatchTrial(env, file string, encrypted bool) (func(text []byte) (*Result, []Explained, error), error) {
	e, err := r.readEnvironment(env)
	if err != nil {
		return nil, err
	}
	p, err := e.understand(context.Background(), false)
	if err != nil {
		return nil, err
	}
	c, err := newCompiler(context.Background(), p)
	if err != nil {
		return nil, err
	}
	return func(text []byte) (*Result, []Explained, error) {
		c.patches, c.failed = map[string]*machine.Patch{}, map[string]bool{}
		c.composer, c.warnings = machine.NewComposer(), nil
		c.raw[file] = text
		if encrypted {
			c.raw[file], c.plain[file] = []byte("{}"), text
		}
		res := &Result{Env: env}
		err := c.renderAll([]config.Node{c.nodes[0]}, res)
		res.Warnings = c.warnings
		if err != nil {
			return res, nil, err
		}
		l, err := c.layersOf(node{c.nodes[0]})
		if err != nil {
			return res, nil, err
		}
		traced, err := machine.Trace(l.base, l.patches)
		if err != nil {
			return res, nil, err
		}
		all, err := explained(traced, c.nodes[0].Name, "")
		return res, all, err
	}, nil
}

// Text returns a rendered file.
func (res *Result) Text(file string) string {
	for _, f := range res.files {
		if f.Path == file {
			return string(f.Data)
		}
	}
	return ""
}
