package vault

import (
	"context"
	"path"
	"strings"

	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// ReplaceToken puts another token into secrets.sops.yaml. before is the part of the one
// before that is no secret: Kubernetes names its Secret by it.
func ReplaceToken(ctx context.Context, r *render.Repo, env string, kind rotation.Kind) (report *Report, before string, err error) {
	token, err := rotation.NewToken(r.Repository().Process.Random)
	if err != nil {
		return nil, "", err
	}
	var old secret.String
	report, err = Edit(ctx, r, env, func(plain []byte) (out []byte, err error) {
		out, old, err = secretsfile.ReplaceToken(path.Join(source.EnvsDir, env, source.SecretsName), plain, kind, secret.New(token))
		return out, err
	})
	before, _, _ = strings.Cut(old.Reveal(), ".")
	return report, before, err
}
