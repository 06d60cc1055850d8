package vault

import (
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
)

// makeKeyring makes the data keys of the environment if there are none.
func (w *writer) makeKeyring(rule *sopsage.Rule, clusterKey, binding secret.String, report *Report) error {
	file := w.File(source.KeyringFile)
	cluster, err := w.clusterRecipients(rule, clusterKey)
	if err != nil {
		return err
	}
	if data, ok := w.Raw[file]; ok {
		keyring, err := sopsage.ParseKeyring(file, data)
		switch {
		case err != nil:
			return err
		case !keyring.Recipients(sopsage.Operator).Equal(rule.Recipients()):
			report.Notes = append(report.Notes, "the recipients in "+source.SopsConfig+" are not those of "+file+"; if they are right, run `talosgen secrets rekey "+w.Name+"`\n"+
				w.Repo.WhoChanges(keyring.Recipients(sopsage.Operator), rule.Recipients()))
		case !keyring.Recipients(sopsage.Cluster).Equal(cluster):
			report.Notes = append(report.Notes, file+" is not for the cluster's age key: run `talosgen secrets rekey "+w.Name+"`")
		}
		return w.upgradeKeyring(keyring, binding, report)
	}
	keyring, err := sopsage.NewKeyring(rule.Recipients(), cluster, binding, w.Repo.Process.Random, w.Repo.Process.Now())
	if err != nil {
		return err
	}
	data, err := keyring.Encode()
	if err != nil {
		return err
	}
	return w.write(file, data, true)
}

// upgradeKeyring writes a keyring of an older version as it is written now. Its
// data keys stay, so nothing else changes.
func (w *writer) upgradeKeyring(keyring *sopsage.Keyring, binding secret.String, report *Report) error {
	if !keyring.Outdated() {
		return nil
	}
	if err := keyring.Upgrade(w.ctx, w.Keys, binding); err != nil {
		return err
	}
	data, err := keyring.Encode()
	if err != nil {
		return err
	}
	report.Notes = append(report.Notes, w.File(source.KeyringFile)+" has version 2 now: its seals cover the recipients; the data keys are the same. "+
		"Render, and commit both: `talosgen render "+w.Name+"`")
	return w.write(w.File(source.KeyringFile), data, false)
}

// clusterRecipients are who can read the Secrets that Flux decrypts: the
// operators and the cluster's own key.
func (w *writer) clusterRecipients(rule *sopsage.Rule, clusterKey secret.String) (sopsage.Recipients, error) {
	public, err := sopsage.PublicKeys(w.File(source.SecretsName), []byte(clusterKey.Reveal()))
	if err != nil {
		return sopsage.Recipients{}, err
	}
	return rule.Recipients().With(public...)
}

// rotatedKeyring makes new data keys for the present recipients.
func (w *writer) rotatedKeyring(have *secretsfile.Secrets, binding secret.String) ([]byte, error) {
	rule, err := w.Repo.Rule(w.File(source.SecretsName))
	if err != nil {
		return nil, err
	}
	cluster, err := w.clusterRecipients(rule, have.ClusterAgeKey)
	if err != nil {
		return nil, err
	}
	keyring, err := sopsage.NewKeyring(rule.Recipients(), cluster, binding, w.Repo.Process.Random, w.Repo.Process.Now())
	if err != nil {
		return nil, err
	}
	return keyring.Encode()
}
