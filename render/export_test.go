package render

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/options"
)

// PatchTrial renders the first node of an environment again and again with
// another text of one patch, without reading and decrypting everything anew.
// With encrypted set, the patch counts as one of which every value was
// encrypted, and text is what was in it.
func (r *Repo) PatchTrial(env, file string, encrypted bool) (func(text []byte) (*Result, []Explained, error), error) {
	c, err := r.compiler(context.Background(), env, false)
	if err != nil {
		return nil, err
	}
	return func(text []byte) (*Result, []Explained, error) {
		c.Raw[file] = text
		if encrypted {
			c.Raw[file] = []byte("{}")
		}
		if c, err = c.plan.compiler(context.Background()); err != nil {
			return nil, nil, err
		}
		if encrypted {
			c.texts.Set(file, text)
		}
		res := &Result{Env: env}
		err := c.renderAll([]model.Node{c.Nodes[0]}, res)
		res.Warnings = c.warned()
		if err != nil {
			return res, nil, err
		}
		all, err := c.explain(c.Nodes[0], "")
		return res, all, err
	}, nil
}

// Outcome is all that a render of an environment leads to.
type Outcome struct {
	Contract string
	Result   *Result
	Values   map[string][]Explained // of each node, by its name
	Clear    map[string]string      // configurations as they are decrypted
}

// Outcome renders an environment, and explains every value of its nodes.
func (r *Repo) Outcome(env string) (*Outcome, error) {
	c, err := r.compiler(context.Background(), env, false)
	if err != nil {
		return nil, err
	}
	out := &Outcome{Contract: c.Config.Talos.ConfigContract, Result: &Result{Env: env}, Values: map[string][]Explained{}, Clear: map[string]string{}}
	if err := errors.Join(c.renderAll(c.All(), out.Result), c.renderInfrastructure(out.Result)); err != nil {
		return nil, err
	}
	out.Result.Warnings = append(c.Config.Warnings, c.warned()...)
	for _, n := range append(slices.Clip(c.Nodes), c.Autoscaled...) {
		if out.Values[n.Name], err = c.explain(n, ""); err != nil {
			return nil, err
		}
		cfg, err := c.configs.Compose(n)
		if err != nil {
			return nil, err
		}
		docs, err := textsOf(cfg)
		if err != nil {
			return nil, err
		}
		out.Clear[n.Name] = strings.Join(docs, "---\n")
	}
	return out, nil
}

// Files lists the rendered files, in the tree of the environment.
func (res *Result) Files() []string {
	var all []string
	for _, f := range res.files {
		all = append(all, f.Path)
	}
	return all
}

// Fresh reports whether a render would change nothing.
func (r *Repo) Fresh(ctx context.Context, env string) (bool, error) {
	res, err := r.Renew(ctx, env)
	return res == nil && err == nil, err
}

// Kept lists the files that were taken over from the last tree.
func (res *Result) Kept() []string { return res.kept }

// Text returns a rendered file.
func (res *Result) Text(file string) string {
	for _, f := range res.files {
		if f.Path == file {
			return string(f.Data)
		}
	}
	return ""
}

// Naive composes the configurations of all nodes, each from the patches in the
// files that order gives, in that order, applying one after the other to one
// configuration. It returns the documents of each node.
func (r *Repo) Naive(env string, order func(Node) []string) (map[string][]string, error) {
	c, err := r.compiler(context.Background(), env, false)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, n := range c.Nodes {
		files := order(Node{Name: n.Name, Role: n.Role, Pool: n.Pool})
		if all[n.Name], err = c.naive(n, files); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (c *compiler) naive(n model.Node, files []string) ([]string, error) {
	cfg, err := c.configs.Base(n)
	if err != nil {
		return nil, err
	}
	var patches []*machine.Patch
	shared, err := options.OfPool(c.Model, n)
	if err != nil {
		return nil, err
	}
	for _, options := range []machine.NodeOptions{shared, options.OfNode(c.Model, n)} {
		patch, err := machine.OptionsPatch("options", options, n.MachineRole(), c.Config.Talos.ConfigContract)
		if err != nil {
			return nil, err
		}
		patches = append(patches, patch)
	}
	for _, file := range files {
		data, encrypted, err := c.texts.Content(file)
		if err != nil {
			return nil, err
		}
		patch, err := machine.LoadPatch(machine.Source{File: file, Data: data, Encrypted: encrypted}, machine.LoadOptions{Scope: n.Scope(c.Scope)})
		if err != nil {
			return nil, err
		}
		patches = append(patches, patch)
	}
	for _, patch := range patches {
		if patch == nil {
			continue
		}
		if cfg, _, err = cfg.Apply([]*machine.Patch{patch}); err != nil {
			return nil, err
		}
	}
	return textsOf(cfg)
}

// textsOf encodes the documents of a configuration.
func textsOf(cfg *machine.Config) ([]string, error) {
	var docs []string
	for _, d := range cfg.Documents() {
		text, err := d.Text()
		if err != nil {
			return nil, err
		}
		docs = append(docs, string(text))
	}
	return docs, nil
}

// Reseal makes a lock of the files of a tree as they are, and seals it, as only
// operators can.
func (r *Repo) Reseal(env string) error {
	lock, err := r.src.ReadLock(env)
	if err != nil {
		return err
	}
	for i, e := range lock.Outputs {
		data, err := os.ReadFile(filepath.Join(r.src.TreeDir(env), e.Path))
		if err != nil {
			return err
		}
		lock.Outputs[i].Digest = rendered.Digest(data)
	}
	c, err := r.compiler(context.Background(), env, false)
	if err != nil {
		return err
	}
	lock.Seal = lock.ComputeSeal(c.secrets.Operator.Derive(rendered.SealLabel))
	return os.WriteFile(filepath.Join(r.src.TreeDir(env), rendered.LockName), lock.Encode(), 0o644)
}
