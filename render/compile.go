package render

import (
	"context"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/addons"
	"github.com/talosgen/talosgen/render/internal/cleartext"
	"github.com/talosgen/talosgen/render/internal/compile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// compiler makes the files of a plan.
type compiler struct {
	*plan
	ctx      context.Context
	texts    *cleartext.Texts
	configs  *compile.Compiler
	last     *lastRender // nil if everything is made anew
	warnings diag.List
}

// compiler reads an environment, and returns what makes its files. What comes with
// an error is good for [compiler.refused] only.
func (r *Repo) compiler(ctx context.Context, env string, keyless bool) (*compiler, error) {
	e, err := r.src.ReadEnvironment(env)
	if err != nil {
		return nil, err
	}
	return compilerOf(ctx, e, keyless)
}

// compilerOf returns what makes the files of an environment that was read.
func compilerOf(ctx context.Context, e *source.Environment, keyless bool) (*compiler, error) {
	p, err := load(ctx, e, keyless)
	if err != nil {
		return &compiler{plan: p}, err
	}
	return p.compiler(ctx)
}

// compiler returns what makes the files of the plan.
func (p *plan) compiler(ctx context.Context) (*compiler, error) {
	texts := p.texts(ctx)
	configs, err := compile.New(compile.Input{
		Model: p.Model, Texts: texts, Bundle: p.secrets.Bundle, Needs: addons.MachineNeeds(p.Model), Now: p.Repo.Process.Now(), Readable: p.Readable, Public: p.Repo.Process.Masker.Readable(),
	})
	if err != nil {
		return nil, err
	}
	return &compiler{plan: p, ctx: ctx, texts: texts, configs: configs}, nil
}

// texts are the sources in the clear; without keys, with placeholders.
func (p *plan) texts(ctx context.Context) *cleartext.Texts {
	t := &cleartext.Texts{Paths: p.Paths, Files: p.Raw, Mask: func(s secret.String) { p.Repo.Process.Masker.Add(s) }}
	for name := range p.secrets.Variables {
		t.SecretVariables = append(t.SecretVariables, name)
	}
	if p.secrets.Operator != nil {
		t.Decrypt = func(file string, data []byte) ([]byte, error) { return p.Keys.DecryptYAML(ctx, file, data) }
	}
	return t
}
