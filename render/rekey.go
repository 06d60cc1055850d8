package render

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
)

// RekeySecrets encrypts everything of an environment again for the recipients
// that .sops.yaml has now, with new data keys.
func (r *Repo) RekeySecrets(ctx context.Context, env string) (*SecretsReport, error) {
	k, err := r.keeper(ctx, env)
	if err != nil {
		return nil, err
	}
	have, err := k.current()
	if err != nil {
		return nil, err
	}
	if have == nil {
		return nil, diag.New(diag.Pos{File: k.path(secretsName)}, "does not exist: there is nothing to encrypt again").WithCode(diag.Secrets)
	}
	rekeyed, err := k.rekeyFiles()
	if err != nil {
		return nil, err
	}
	keyring, err := k.rotatedKeyring(have)
	if err != nil {
		return nil, err
	}
	rekeyed[k.path(keyringFile)] = keyring
	for _, file := range slices.Sorted(maps.Keys(rekeyed)) {
		if err := k.write(file, rekeyed[file], false); err != nil {
			return nil, err
		}
	}
	return &SecretsReport{Env: env, Changed: k.changed, Notes: []string{
		"render the environment again: `talosgen render " + env + "`",
		"who was a recipient before can still read what Git remembers; if somebody left, replace the secrets themselves: " +
			"the Talos bundle (talosctl rotate-ca), the tokens and passwords under `variables`, and the cluster's age key",
	}}, nil
}

// rekeyFiles encrypts the environment's encrypted sources again, in memory.
// Patches that environments share keep their data key unless their recipients
// changed, so that each environment can be rekeyed by itself.
func (k *keeper) rekeyFiles() (map[string][]byte, error) {
	out := map[string][]byte{}
	var problems diag.List
	for _, file := range k.paths {
		data := k.raw[file]
		if !sopsage.NamedEncrypted(file) && !sopsage.IsEncryptedYAML(data) {
			continue
		}
		rule, err := k.repo.rule(file)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		if !strings.HasPrefix(file, path.Join(envsDir, k.name)+"/") {
			same, err := sopsage.SameRecipients(file, data, rule)
			if err != nil {
				problems.AddErr(err)
				continue
			}
			if same {
				continue
			}
		}
		again, err := k.keys.Rekey(k.ctx, file, data, rule, k.repo.world.Random, k.repo.world.Now())
		if err != nil {
			problems.AddErr(err)
			continue
		}
		out[file] = again
	}
	return out, problems.Err()
}

// rotatedKeyring makes new data keys for the present recipients.
func (k *keeper) rotatedKeyring(have *secretsfile.Secrets) ([]byte, error) {
	rule, err := k.repo.rule(k.path(secretsName))
	if err != nil {
		return nil, err
	}
	cluster, err := k.clusterRecipients(rule, have.ClusterAgeKey)
	if err != nil {
		return nil, err
	}
	keyring, err := sopsage.NewKeyring(rule.Recipients(), cluster, have.KeyringBinding, k.repo.world.Random, k.repo.world.Now())
	if err != nil {
		return nil, err
	}
	return keyring.Encode()
}
