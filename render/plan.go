package render

import (
	"context"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/source"
)

// plan is an environment that was understood, and what it keeps encrypted.
type plan struct {
	*source.Environment
	*model.Model
	secrets *source.Secrets
}

// load decrypts, reads cluster.env and cluster.yaml, and sorts the
// patches into layers. With keyless set, nothing is decrypted. A plan that comes
// with an error is good for its warnings only.
func load(ctx context.Context, e *source.Environment, keyless bool) (*plan, error) {
	p := &plan{Environment: e}
	if err := e.CheckPlaintext(); err != nil {
		return nil, err
	}
	if err := e.CheckCopied(); err != nil {
		return nil, err
	}
	var err error
	if keyless {
		p.secrets, err = e.Placeholders()
	} else {
		p.secrets, err = e.OpenSecrets(ctx)
	}
	if err != nil {
		return nil, err
	}
	var problems diag.List
	vars, err := e.Variables(p.secrets)
	problems.AddErr(err)
	p.Model, err = model.New(model.Sources{Env: e.Name, Paths: e.Paths, Files: e.Raw, Vars: vars, Secrets: p.secrets.File})
	problems.AddErr(err)
	return p, problems.Err()
}
