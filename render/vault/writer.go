package vault

import (
	"context"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// writer makes and changes the secret files of an environment.
type writer struct {
	*source.Environment
	ctx     context.Context
	changed []string // files, for the report
	staged  bool     // nothing is written: Raw has what would be
}

func newWriter(ctx context.Context, r *render.Repo, env string) (*writer, error) {
	e, err := r.Repository().ReadEnvironment(env)
	if err != nil {
		return nil, err
	}
	return &writer{Environment: e, ctx: ctx}, e.FindKeys()
}

// current decrypts the secrets that are there; nil if there are none.
func (w *writer) current() (*secretsfile.Secrets, error) {
	plain, err := w.plain()
	if err != nil || plain == nil {
		return nil, err
	}
	return secretsfile.Parse(w.File(source.SecretsName), plain)
}

func (w *writer) plain() ([]byte, error) {
	file := w.File(source.SecretsName)
	data, ok := w.Raw[file]
	if !ok {
		return nil, nil
	}
	return w.Keys.DecryptYAML(w.ctx, file, data)
}

// addSecrets writes secrets into secrets.sops.yaml, or makes the file.
func (w *writer) addSecrets(given *secretsfile.Secrets, rule *sopsage.Rule) (added []string, err error) {
	file := w.File(source.SecretsName)
	plain, err := w.plain()
	if err != nil {
		return nil, err
	}
	out, added, err := secretsfile.Add(file, plain, given)
	old, exists := w.Raw[file]
	if err != nil || len(added) == 0 && exists && sopsage.CheckWhole(file, old) == nil {
		return nil, err
	}
	var data []byte
	if exists {
		data, err = w.Keys.Reencrypt(w.ctx, file, old, out, w.Repo.Process.Now())
	} else {
		data, err = sopsage.Encrypt(file, out, rule, w.Repo.Process.Random, w.Repo.Process.Now())
	}
	if err != nil {
		return nil, err
	}
	return added, w.write(file, data, !exists)
}

// sameKeysOf is [source.Environment.CheckContinuity] for a command that changes the
// secrets of an environment.
func (w *writer) sameKeysOf(have *secretsfile.Secrets) error {
	if w.Repo.NewKeys {
		return nil
	}
	if _, ok := w.Raw[w.File(source.KeyringFile)]; !ok {
		return w.CheckContinuity(w.ctx, nil)
	}
	s := &source.Secrets{File: have}
	if err := w.UnwrapOperator(w.ctx, s); err != nil {
		return err
	}
	return w.CheckContinuity(w.ctx, s.Operator)
}

// write puts a file in place; create says that it must not exist. It never
// writes a secret in the clear.
func (w *writer) write(file string, data []byte, create bool) error {
	if source.AllSecret(file) {
		if err := sopsage.CheckWhole(file, data); err != nil {
			return err
		}
	}
	if w.staged {
		w.Raw[file] = data
		w.changed = append(w.changed, file)
		return nil
	}
	var err error
	written := true
	if create {
		err = atomicfile.Create(w.Repo.Files.Path(file), data, 0o644)
	} else {
		written, err = atomicfile.Write(w.Repo.Files.Path(file), data, 0o644)
	}
	if err != nil {
		return diag.New(diag.Pos{File: file}, "cannot be written: %v", source.Reason(err)).WithCause(err)
	}
	if written {
		w.changed = append(w.changed, file)
		w.Raw[file] = data
	}
	return nil
}
