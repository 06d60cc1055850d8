package render

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// Rekeying is everything of an environment, encrypted again for the recipients
// that .sops.yaml has now, in memory: what [Repo.WriteRekeyed] writes.
type Rekeying struct {
	Env    string
	Coming []source.Recipient // who can read something that they could not read before
	Going  []source.Recipient // who can read something no longer
	// Staying are those who can read what they could, and nothing else.
	Staying []source.Recipient
	// Result is the environment rendered with the new keys; nil if it was never
	// rendered.
	Result *Result

	keeper *keeper
	files  map[string][]byte
}

// Recipient is a public key, and who has it.
type Recipient = source.Recipient

// Rekey encrypts everything of an environment again, with new data keys, and with
// a new secret that binds them to it, and renders with them. Nothing is written.
// earlier is what .sops.yaml was before, for the names of those who go; it may be
// nil.
func (r *Repo) Rekey(ctx context.Context, env string, earlier []byte) (*Rekeying, error) {
	k, err := r.keeper(ctx, env)
	if err != nil {
		return nil, err
	}
	have, err := k.current()
	if err != nil {
		return nil, err
	}
	if have == nil {
		return nil, diag.New(diag.Pos{File: k.File(source.SecretsName)}, "does not exist: there is nothing to encrypt again").WithCode(diag.Secrets)
	}
	if _, ok := k.Raw[k.File(source.KeyringFile)]; !ok {
		return nil, diag.New(diag.Pos{File: k.File(source.KeyringFile)}, "does not exist: there are no data keys to replace").
			WithHint("make them with `talosgen secrets sync %s`", env).WithCode(diag.Secrets)
	}
	if err := k.sameKeysOf(have); err != nil {
		return nil, err
	}
	random := make([]byte, 32)
	if _, err := io.ReadFull(r.src.World.Random, random); err != nil {
		return nil, err
	}
	binding := secret.New(base64.StdEncoding.EncodeToString(random))
	k.Mask(binding)
	done := &Rekeying{Env: env, keeper: k}
	if done.files, err = k.rekeyFiles(binding); err != nil {
		return nil, err
	}
	if done.files[k.File(source.KeyringFile)], err = k.rotatedKeyring(have, binding); err != nil {
		return nil, err
	}
	if err := done.compareRecipients(earlier); err != nil {
		return nil, err
	}
	return done, done.render(ctx, r)
}

// render renders with the new keys, if the environment was rendered before.
func (d *Rekeying) render(ctx context.Context, r *Repo) error {
	_, err := r.src.Files.Stat(path.Join(source.RenderedDir, d.Env))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return diag.New(diag.Pos{File: path.Join(source.RenderedDir, d.Env)}, "cannot be read: %v", source.Reason(err)).WithCause(err)
	}
	d.Result, err = r.WithNewKeys().WithEdited(d.files).Render(ctx, d.Env, Options{})
	return err
}

// WriteRekeyed writes what [Repo.Rekey] made. The summary is that of the rendered
// tree.
func (r *Repo) WriteRekeyed(d *Rekeying) (*SecretsReport, Summary, error) {
	var summary Summary
	k := d.keeper
	for _, file := range slices.Sorted(maps.Keys(d.files)) {
		if err := k.write(file, d.files[file], false); err != nil {
			return nil, summary, err
		}
	}
	report := &SecretsReport{Env: d.Env, Changed: k.changed}
	if d.Result == nil {
		report.Notes = append(report.Notes, "render the environment: `talosgen render "+d.Env+"`")
	} else {
		var err error
		if summary, err = r.Write(d.Result); err != nil {
			return report, summary, err
		}
	}
	report.Notes = append(report.Notes,
		"who was a recipient before can still read what Git remembers; if somebody left, replace the secrets themselves: "+
			"the Talos bundle (talosctl rotate-ca), the tokens and passwords under `variables`, and the cluster's age key")
	return report, summary, nil
}

// rekeyFiles encrypts the environment's encrypted sources again, in memory.
// Patches that environments share keep their data key unless their recipients
// changed, so that each environment can be rekeyed by itself.
func (k *keeper) rekeyFiles(binding secret.String) (map[string][]byte, error) {
	out := map[string][]byte{}
	var problems diag.List
	for _, file := range k.Paths {
		data := k.Raw[file]
		if !sopsage.NamedEncrypted(file) && !sopsage.IsEncryptedYAML(data) {
			continue
		}
		rule, err := k.Repo.Rule(file)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		if !strings.HasPrefix(file, path.Join(source.EnvsDir, k.Name)+"/") {
			same, err := sopsage.SameRecipients(file, data, rule)
			if err != nil {
				problems.AddErr(err)
				continue
			}
			if same {
				continue
			}
		}
		again, err := k.rekeyFile(file, rule, binding)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		out[file] = again
	}
	return out, problems.Err()
}

// rekeyFile encrypts one source again; the secrets of the environment with a new
// binding in them.
func (k *keeper) rekeyFile(file string, rule *sopsage.Rule, binding secret.String) ([]byte, error) {
	w := k.Repo.World
	if file != k.File(source.SecretsName) {
		return k.Keys.Rekey(k.ctx, file, k.Raw[file], rule, w.Random, w.Now())
	}
	plain, err := k.plain()
	if err != nil {
		return nil, err
	}
	if plain, err = secretsfile.Rebind(file, plain, binding); err != nil {
		return nil, err
	}
	return sopsage.Encrypt(file, plain, rule, w.Random, w.Now())
}

// rotatedKeyring makes new data keys for the present recipients.
func (k *keeper) rotatedKeyring(have *secretsfile.Secrets, binding secret.String) ([]byte, error) {
	rule, err := k.Repo.Rule(k.File(source.SecretsName))
	if err != nil {
		return nil, err
	}
	cluster, err := k.clusterRecipients(rule, have.ClusterAgeKey)
	if err != nil {
		return nil, err
	}
	keyring, err := sopsage.NewKeyring(rule.Recipients(), cluster, binding, k.Repo.World.Random, k.Repo.World.Now())
	if err != nil {
		return nil, err
	}
	return keyring.Encode()
}
