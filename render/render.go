package render

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/addons"
	"github.com/talosgen/talosgen/render/internal/compile"
	"github.com/talosgen/talosgen/render/internal/encrypt"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/tree"
	"github.com/talosgen/talosgen/schemas"
)

// Options say what is rendered.
type Options struct {
	// Keyless renders with placeholders for everything secret. The result is
	// valid and of the right shape, and cannot be written.
	Keyless bool
	// Nodes limits a render to nodes by name; all if it is empty. A part of a
	// tree cannot be written.
	Nodes []string
}

// Result is a rendered environment, complete in memory.
type Result struct {
	Env      string
	Nodes    []Node
	Warnings diag.List
	// Encrypted are the encrypted sources that are not as the last render read
	// them.
	Encrypted []EncryptedSource

	files  []tree.File
	kept   []string       // files of last that stay
	last   *tree.Written  // nil if none stays
	warned []string       // parts of the tree that there are warnings of
	lock   *rendered.Lock // nil if the result cannot be written
}

// Infrastructure is what the tree wants of Hetzner Cloud.
func (res *Result) Infrastructure() (schemas.Infrastructure, error) {
	files := map[string][]byte{}
	for _, f := range res.files {
		files[f.Path] = f.Data
	}
	return rendered.Infrastructure("rendered/"+res.Env, files)
}

// Node describes a rendered node.
type Node struct {
	Name string `json:"name"`
	Role string `json:"role"`
	Pool string `json:"pool"`
	File string `json:"file"` // in the rendered tree of the environment
}

// Render makes the whole tree of an environment in memory.
func (r *Repo) Render(ctx context.Context, env string, o Options) (*Result, error) {
	e, err := r.src.ReadEnvironment(env)
	if err != nil {
		return nil, err
	}
	return r.render(ctx, e, o, nil)
}

// RenderSources makes the whole tree of an environment that was read, also of one that
// is in memory only, and reads each configuration back as `show --reveal` would: the
// text of each node's, by its name.
func (r *Repo) RenderSources(ctx context.Context, e *source.Environment) (*Result, map[string]secret.String, error) {
	res, err := r.render(ctx, e, Options{}, nil)
	if err != nil {
		return res, nil, err
	}
	clear := map[string]secret.String{}
	for _, f := range res.files {
		i := slices.IndexFunc(res.Nodes, func(n Node) bool { return n.File == f.Path })
		if i < 0 {
			continue
		}
		text := f.Data
		if sopsage.IsEncryptedYAML(text) {
			if text, err = e.Keys.DecryptYAML(ctx, path.Join(source.RenderedDir, e.Name, f.Path), text); err != nil {
				return res, nil, err
			}
		}
		clear[res.Nodes[i].Name] = secret.New(string(text))
	}
	return res, clear, nil
}

// render makes the tree of an environment that was read. It takes over what it can
// from the last one, which may be nil.
func (r *Repo) render(ctx context.Context, e *source.Environment, o Options, last *tree.Written) (*Result, error) {
	c, err := compilerOf(ctx, e, o.Keyless)
	if err != nil {
		return c.refused(), err
	}
	nodes, err := c.Selected(o.Nodes)
	if err != nil {
		return nil, err
	}
	if !o.Keyless && len(o.Nodes) == 0 {
		if err := c.CheckContinuity(ctx, c.secrets.Operator); err != nil {
			return c.refused(), err
		}
	}
	res := &Result{Env: e.Name}
	if c.last = c.lastRender(last); c.last != nil {
		res.last = last
	}
	res.Warnings.Add(c.Config.Warnings...)
	res.Warnings.Add(c.secrets.Warnings...)
	if len(o.Nodes) > 0 {
		err = c.renderAll(nodes, res)
	} else {
		err = c.renderTree(res)
	}
	res.Warnings.Add(c.warned()...)
	res.Warnings = unique(res.Warnings)
	if err != nil {
		return res, err
	}
	if o.Keyless || len(o.Nodes) > 0 {
		return res, nil
	}
	res.addReadable(r.src.Process.Masker.Readable())
	if err := c.warnRunning(res); err != nil {
		return res, err
	}
	if res.Encrypted, err = encryptedChanges(c.Environment); err != nil {
		return res, err
	}
	return res, c.sealLock(res)
}

// refused is the result for an environment that cannot be understood: what is
// to be warned of all the same.
func (c *compiler) refused() *Result {
	if c == nil || c.plan == nil || c.Model == nil || c.Config == nil {
		return nil
	}
	return &Result{Warnings: c.Config.Warnings}
}

// sealLock makes the lock of a complete result.
func (p *plan) sealLock(res *Result) error {
	origin := rendered.Origin{Talosgen: p.Repo.Process.Version, Environment: p.Name, Cluster: p.Config.ClusterName}
	outputs := tree.Outputs(res.files)
	if res.last != nil {
		outputs = append(outputs, res.last.Keep(res.kept)...)
	}
	lock, err := rendered.NewLock(origin, p.Inputs, outputs, res.warned...)
	if err != nil {
		return err
	}
	lock.Seal = lock.ComputeSeal(p.secrets.Operator.Derive(rendered.SealLabel))
	res.lock = lock
	return nil
}

// renderTree makes all files of the environment.
func (c *compiler) renderTree(res *Result) error {
	var problems diag.List
	problems.AddErr(c.renderAll(c.All(), res))
	res.Nodes = slices.DeleteFunc(res.Nodes, func(n Node) bool {
		return n.File == model.AutoscaledFile(n.Name) || slices.ContainsFunc(c.Surge, func(s model.Node) bool { return s.Name == n.Name })
	})
	problems.AddErr(c.renderInfrastructure(res))
	problems.AddErr(c.renderAddons(res))
	c.warnNoPodNetwork()
	return problems.Err()
}

// renderAll makes, validates and encrypts the configuration of each node, and of the
// servers of each pool that the autoscaler scales. What is wrong with several is said
// once.
func (c *compiler) renderAll(nodes []model.Node, res *Result) error {
	var problems diag.List
	found := compile.NewFindings(c.Name)
	for _, n := range nodes {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := c.addNode(n, found, res); err != nil {
			problems.AddErr(err)
			continue
		}
		res.Nodes = append(res.Nodes, Node{Name: n.Name, Role: n.Role, Pool: n.Pool, File: n.File()})
	}
	problems.Add(found.Problems()...)
	c.warnings.Add(found.Warnings()...)
	return problems.Err()
}

// warned is what there is to say of the sources.
func (c *compiler) warned() diag.List {
	return slices.Concat(c.warnings, c.configs.Warnings(), c.texts.Warnings())
}

// addNode adds the file of a node to a result: the one of the last render if its
// sources are the same.
func (c *compiler) addNode(n model.Node, found *compile.Findings, res *Result) error {
	if c.last.node(n, res) {
		return nil
	}
	data, err := c.renderNode(n, found)
	if data != nil {
		res.files = append(res.files, tree.File{Path: n.File(), Data: data})
	}
	if c.configs.Warned(n, found) {
		res.warned = append(res.warned, n.File())
	}
	return err
}

// renderNode makes, validates and encrypts the configuration of a node. Without
// keys nothing can be encrypted.
func (c *compiler) renderNode(n model.Node, found *compile.Findings) ([]byte, error) {
	cfg, err := c.configs.Checked(n, found)
	if err != nil || cfg == nil {
		return nil, err
	}
	if n.Autoscaled {
		if err := addons.CheckUserData(n, cfg); err != nil {
			return nil, err
		}
	}
	return encrypt.Config(c.secrets.Operator, c.Name+"/"+n.File(), cfg)
}

// addReadable adds all that is rendered to what everybody can read. Of files that stay
// it matters for warnings alone.
func (res *Result) addReadable(readable *secret.Readable) {
	for _, f := range res.files {
		readable.Add([]byte(f.Path), f.Data)
	}
	for _, path := range res.kept {
		readable.Add([]byte(path))
		if len(res.Warnings) == 0 {
			continue
		}
		if data, same := res.last.Read(path); same {
			readable.Add(data)
		}
	}
}

// unique sorts problems and drops what is said twice.
func unique(list diag.List) diag.List {
	var sorted diag.List
	errors.As(list.Err(), &sorted)
	return sorted
}

// Summary says what a write did to the rendered tree.
type Summary = tree.Summary

// Write puts a rendered environment in place of the committed one, as a whole.
func (r *Repo) Write(res *Result) (Summary, error) {
	if res.lock == nil {
		return Summary{}, fmt.Errorf("a partial render of %s cannot be written", res.Env)
	}
	if res.last != nil {
		summary, err := res.last.Rewrite(res.files, res.kept, res.lock)
		return summary, r.src.Local(err)
	}
	summary, err := tree.Write(r.src.TreeDir(res.Env), res.files, res.lock)
	return summary, r.src.Local(err)
}
