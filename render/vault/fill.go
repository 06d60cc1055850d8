package vault

import (
	"encoding/base64"
	"io"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/schemas"
)

// filler makes the secrets that an environment needs and does not have.
type filler struct {
	*writer
	have, given *secretsfile.Secrets // what there is, and what is added to it
	report      *Report
}

// fill generates what is missing in given and in the file, and writes it.
func (w *writer) fill(given *secretsfile.Secrets) (*Report, error) {
	rule, err := w.Repo.Rule(w.File(source.SecretsName))
	if err != nil {
		return nil, err
	}
	have, err := w.current()
	if err != nil {
		return nil, err
	}
	if have == nil {
		have = &secretsfile.Secrets{}
	} else if err := w.sameKeysOf(have); err != nil {
		return nil, err
	}
	report := &Report{Env: w.Name}
	f := &filler{writer: w, have: have, given: given, report: report}
	if err := f.generate(); err != nil {
		return nil, err
	}
	if err := f.generateForAddons(); err != nil {
		return nil, err
	}
	if report.Added, err = w.addSecrets(given, rule); err != nil {
		return nil, err
	}
	if err := w.makeKeyring(rule, have.ClusterAgeKey.Or(given.ClusterAgeKey), have.KeyringBinding.Or(given.KeyringBinding), report); err != nil {
		return nil, err
	}
	report.Changed = w.changed
	return report, nil
}

// generate makes the secrets that every cluster has.
func (f *filler) generate() error {
	if f.given.Talos.IsZero() && f.have.Talos.IsZero() {
		bundle, err := machine.NewBundle(source.BundleContract(), f.Repo.Process.Now())
		if err != nil {
			return err
		}
		text, err := bundle.YAML()
		if err != nil {
			return err
		}
		f.given.Talos = secret.New(string(text))
	}
	if f.have.ClusterAgeKey.IsZero() {
		private, _, err := sopsage.GenerateIdentity(f.Repo.Process.Random)
		if err != nil {
			return err
		}
		f.given.ClusterAgeKey = private
	}
	if f.have.KeyringBinding.IsZero() {
		random := make([]byte, 32)
		if _, err := io.ReadFull(f.Repo.Process.Random, random); err != nil {
			return err
		}
		f.given.KeyringBinding = secret.New(base64.StdEncoding.EncodeToString(random))
	}
	if f.have.SSHHostKey.IsZero() && mayHaveGateway(f.Environment) {
		private, err := sshkey.New(f.Repo.Process.Random)
		if err != nil {
			return err
		}
		f.given.SSHHostKey = private
	}
	return nil
}

// mayHaveGateway tells whether an environment can turn a NAT gateway on: all
// can but static ones. Whatever else is wrong with the file is reported when it
// is read as a whole.
func mayHaveGateway(e *source.Environment) bool {
	var c struct {
		Provider string `yaml:"provider"`
	}
	return e.DecodeCluster(&c) == nil && c.Provider != schemas.Static
}
