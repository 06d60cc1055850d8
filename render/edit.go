package render

import (
	"context"
	"errors"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// EditSecrets decrypts secrets.sops.yaml, lets edit change the text, and
// encrypts it again. Values that did not change keep their ciphertext; if none
// did, the file is not touched.
func (r *Repo) EditSecrets(ctx context.Context, env string, edit func(plain []byte) ([]byte, error)) (*SecretsReport, error) {
	k, err := r.keeper(ctx, env)
	if err != nil {
		return nil, err
	}
	file := k.File(source.SecretsName)
	plain, err := k.plain()
	if err != nil {
		return nil, err
	}
	if plain == nil {
		return nil, diag.New(diag.Pos{File: file}, "does not exist").
			WithHint("`talosgen secrets init %s` makes it", env).WithCode(diag.Secrets)
	}
	have, err := secretsfile.Parse(file, plain)
	if err == nil {
		err = k.sameKeysOf(have)
	}
	if err != nil {
		return nil, err
	}
	changed, err := edit(plain)
	if err != nil {
		return nil, err
	}
	if err := r.CheckSecrets(env, changed); err != nil {
		return nil, err
	}
	data, err := k.Keys.Reencrypt(ctx, file, k.Raw[file], changed, r.src.World.Now())
	if err != nil {
		return nil, err
	}
	if err := k.write(file, data, false); err != nil {
		return nil, err
	}
	return &SecretsReport{Env: env, Changed: k.changed}, nil
}

// CheckSecrets reports what is wrong with the text of secrets.sops.yaml in the
// clear. It says where, and never what is there.
func (r *Repo) CheckSecrets(env string, plain []byte) error {
	e := &source.Environment{Repo: r.src, Name: env}
	file := e.File(source.SecretsName)
	var load *yaml.LoadError
	if err := yaml.Unmarshal(plain, new(yaml.Node)); errors.As(err, &load) {
		return diag.New(diag.Pos{File: file}, "the edited text is not valid YAML: line %d, column %d", load.Mark.Line, load.Mark.Column).
			WithHint("put quotes around a value that holds other characters than letters and digits").WithCode(diag.Secrets)
	}
	_, err := secretsfile.Parse(file, plain)
	return err
}
