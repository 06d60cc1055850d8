package vault

import (
	"context"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// Report says what a command did to the secret files of an environment.
type Report struct {
	Env     string   `json:"environment"`
	Changed []string `json:"changed"` // files, repository-relative
	Added   []string `json:"added"`   // keys of secrets.sops.yaml
	Missing []string `json:"missing"` // secret variables that are needed, and nobody can make up
	Notes   []string `json:"notes"`   // what the user should know or do next
}

// Init makes all secrets of a new environment: the Talos bundle, the
// cluster's age key, and the keyring. Existing ones are never overwritten.
func Init(ctx context.Context, r *render.Repo, env string) (*Report, error) {
	w, err := newWriter(ctx, r, env)
	if err != nil {
		return nil, err
	}
	if _, ok := w.Raw[w.File(source.SecretsName)]; ok {
		return nil, diag.New(diag.Pos{File: w.File(source.SecretsName)}, "exists already; secrets are never overwritten").
			WithHint("`talosgen secrets sync %s` adds what is missing", env).WithCode(diag.Secrets)
	}
	if err := w.CheckPlainBundles(); err != nil {
		return nil, err
	}
	return w.fill(&secretsfile.Secrets{})
}

// Sync adds the secrets that the environment needs and does not have
// yet. What is there stays as it is, byte for byte.
func Sync(ctx context.Context, r *render.Repo, env string) (*Report, error) {
	w, err := newWriter(ctx, r, env)
	if err != nil {
		return nil, err
	}
	return w.fill(&secretsfile.Secrets{})
}

// Import takes over the secrets of an existing cluster: a bundle as
// `talosctl gen secrets` writes it, or the machine configuration of a control
// plane; either may be encrypted with SOPS. file is for messages.
func Import(ctx context.Context, r *render.Repo, env, file string, data []byte) (*Report, error) {
	w, err := newWriter(ctx, r, env)
	if err != nil {
		return nil, err
	}
	if sopsage.IsEncryptedYAML(data) {
		if data, err = w.Keys.DecryptYAML(ctx, file, data); err != nil {
			return nil, err
		}
	}
	bundle, err := machine.ParseBundle(data)
	if err != nil {
		var fromConfig error
		if bundle, fromConfig = machine.BundleFromConfig(data); fromConfig != nil {
			return nil, diag.New(diag.Pos{File: file}, "has no secrets of a cluster to take over").
				WithHint("taken for a bundle: %v\ntaken for a machine configuration: %v", err, fromConfig).WithCode(diag.Secrets)
		}
	}
	w.Mask(bundle.Values()...)
	text, err := bundle.YAML()
	if err != nil {
		return nil, err
	}
	old, err := w.current()
	if err != nil {
		return nil, err
	}
	if old != nil && !old.Talos.IsZero() {
		return nil, diag.New(diag.Pos{File: w.File(source.SecretsName)}, "has a Talos bundle already; secrets are never overwritten").
			WithHint("remove `%s:` with `talosgen secrets edit %s` first, if no cluster was made from it", secretsfile.KeyTalos, env).WithCode(diag.Secrets)
	}
	return w.fill(&secretsfile.Secrets{Talos: secret.New(string(text))})
}
