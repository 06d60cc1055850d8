package vault

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
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// Rekeying is everything of an environment, encrypted again for the recipients
// that .sops.yaml has now, in memory: what [Rekeying.Write] writes.
type Rekeying struct {
	Env    string
	Coming []Recipient // who can read something that they could not read before
	Going  []Recipient // who can read something no longer
	// Staying are those who can read what they could, and nothing else.
	Staying []Recipient
	// Result is the environment rendered with the new keys; nil if it was never
	// rendered.
	Result *render.Result

	writer *writer
	files  map[string][]byte
}

// Recipient is a public key, and who has it.
type Recipient = source.Recipient

// Rekey encrypts everything of an environment again, with new data keys, and with
// a new secret that binds them to it, and renders with them. Nothing is written.
// earlier is what .sops.yaml was before, for the names of those who go; it may be
// nil.
func Rekey(ctx context.Context, r *render.Repo, env string, earlier []byte) (*Rekeying, error) {
	w, err := newWriter(ctx, r, env)
	if err != nil {
		return nil, err
	}
	have, err := w.current()
	if err != nil {
		return nil, err
	}
	if have == nil {
		return nil, diag.New(diag.Pos{File: w.File(source.SecretsName)}, "does not exist: there is nothing to encrypt again").WithCode(diag.Secrets)
	}
	if _, ok := w.Raw[w.File(source.KeyringFile)]; !ok {
		return nil, diag.New(diag.Pos{File: w.File(source.KeyringFile)}, "does not exist: there are no data keys to replace").
			WithHint("make them with `talosgen secrets sync %s`", env).WithCode(diag.Secrets)
	}
	if err := w.sameKeysOf(have); err != nil {
		return nil, err
	}
	random := make([]byte, 32)
	if _, err := io.ReadFull(r.Repository().Process.Random, random); err != nil {
		return nil, err
	}
	binding := secret.New(base64.StdEncoding.EncodeToString(random))
	w.Mask(binding)
	done := &Rekeying{Env: env, writer: w}
	if done.files, err = w.rekeyFiles(binding); err != nil {
		return nil, err
	}
	if done.files[w.File(source.KeyringFile)], err = w.rotatedKeyring(have, binding); err != nil {
		return nil, err
	}
	if err := done.compareRecipients(earlier); err != nil {
		return nil, err
	}
	return done, done.render(ctx, r)
}

// render renders with the new keys, if the environment was rendered before.
func (d *Rekeying) render(ctx context.Context, r *render.Repo) error {
	_, err := r.Repository().Files.Stat(path.Join(source.RenderedDir, d.Env))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return diag.New(diag.Pos{File: path.Join(source.RenderedDir, d.Env)}, "cannot be read: %v", source.Reason(err)).WithCause(err)
	}
	d.Result, err = r.WithNewKeys().WithEdited(d.files).Render(ctx, d.Env, render.Options{})
	return err
}

// Write writes what [Rekey] made: the secret files and the rendered tree. The summary
// is that of the tree.
func (d *Rekeying) Write(r *render.Repo) (*Report, render.Summary, error) {
	var summary render.Summary
	w := d.writer
	for _, file := range slices.Sorted(maps.Keys(d.files)) {
		if err := w.write(file, d.files[file], false); err != nil {
			return nil, summary, err
		}
	}
	report := &Report{Env: d.Env, Changed: w.changed}
	if d.Result == nil {
		report.Notes = append(report.Notes, "render the environment: `talosgen render "+d.Env+"`")
	} else {
		var err error
		if summary, err = r.Write(d.Result); err != nil {
			return report, summary, err
		}
	}
	report.Notes = append(report.Notes,
		"who was a recipient before can still read what Git remembers; if an operator left, replace the secrets themselves: "+
			"the Talos bundle (talosctl rotate-ca), the tokens and passwords under `variables`, and the cluster's age key")
	return report, summary, nil
}

// rekeyFiles encrypts the environment's encrypted sources again, in memory.
// Patches that environments share keep their data key unless their recipients
// changed, so that each environment can be rekeyed by itself.
func (w *writer) rekeyFiles(binding secret.String) (map[string][]byte, error) {
	out := map[string][]byte{}
	var problems diag.List
	for _, file := range w.Paths {
		data := w.Raw[file]
		if !sopsage.NamedEncrypted(file) && !sopsage.IsEncryptedYAML(data) {
			continue
		}
		rule, err := w.Repo.Rule(file)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		if !strings.HasPrefix(file, path.Join(source.EnvsDir, w.Name)+"/") {
			same, err := sopsage.SameRecipients(file, data, rule)
			if err != nil {
				problems.AddErr(err)
				continue
			}
			if same {
				continue
			}
		}
		again, err := w.rekeyFile(file, rule, binding)
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
func (w *writer) rekeyFile(file string, rule *sopsage.Rule, binding secret.String) ([]byte, error) {
	process := w.Repo.Process
	if file != w.File(source.SecretsName) {
		return w.Keys.Rekey(w.ctx, file, w.Raw[file], rule, process.Random, process.Now())
	}
	plain, err := w.plain()
	if err != nil {
		return nil, err
	}
	if plain, err = secretsfile.Rebind(file, plain, binding); err != nil {
		return nil, err
	}
	return sopsage.Encrypt(file, plain, rule, process.Random, process.Now())
}
