package vault

import (
	"context"
	"errors"
	"path"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// Edit decrypts secrets.sops.yaml, lets edit change the text, and
// encrypts it again. Values that did not change keep their ciphertext; if none
// did, the file is not touched.
func Edit(ctx context.Context, r *render.Repo, env string, edit func(plain []byte) ([]byte, error)) (*Report, error) {
	w, err := newWriter(ctx, r, env)
	if err != nil {
		return nil, err
	}
	return w.edit(edit)
}

func (w *writer) edit(edit func(plain []byte) ([]byte, error)) (*Report, error) {
	file := w.File(source.SecretsName)
	plain, err := w.plain()
	if err != nil {
		return nil, err
	}
	if plain == nil {
		return nil, diag.New(diag.Pos{File: file}, "does not exist").
			WithHint("`talosgen secrets init %s` makes it", w.Name).WithCode(diag.Secrets)
	}
	have, err := secretsfile.Parse(file, plain)
	if err == nil {
		err = w.sameKeysOf(have)
	}
	if err != nil {
		return nil, err
	}
	changed, err := edit(plain)
	if err != nil {
		return nil, err
	}
	if err := Check(w.Name, changed); err != nil {
		return nil, err
	}
	data, err := w.Keys.Reencrypt(w.ctx, file, w.Raw[file], changed, w.Repo.Process.Now())
	if err != nil {
		return nil, err
	}
	if err := w.write(file, data, false); err != nil {
		return nil, err
	}
	return &Report{Env: w.Name, Changed: w.changed}, nil
}

// Check reports what is wrong with the text of secrets.sops.yaml in the
// clear. It says where, and never what is there.
func Check(env string, plain []byte) error {
	file := path.Join(source.EnvsDir, env, source.SecretsName)
	var load *yaml.LoadError
	if err := yaml.Unmarshal(plain, new(yaml.Node)); errors.As(err, &load) {
		return diag.New(diag.Pos{File: file}, "the edited text is not valid YAML: line %d, column %d", load.Mark.Line, load.Mark.Column).
			WithHint("put quotes around a value that holds other characters than letters and digits").WithCode(diag.Secrets)
	}
	_, err := secretsfile.Parse(file, plain)
	return err
}
