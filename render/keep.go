package render

import (
	"context"
	"encoding/base64"
	"io"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/schemas"
)

// keeper makes and changes the secret files of an environment.
type keeper struct {
	*source.Environment
	ctx     context.Context
	changed []string // files, for the report
}

// SecretsReport says what a command did to the secret files of an environment.
type SecretsReport struct {
	Env     string   `json:"environment"`
	Changed []string `json:"changed"` // files, repository-relative
	Added   []string `json:"added"`   // keys of secrets.sops.yaml
	Missing []string `json:"missing"` // secret variables that are needed, and nobody can make up
	Notes   []string `json:"notes"`   // what the user should know or do next
}

func (r *Repo) keeper(ctx context.Context, env string) (*keeper, error) {
	e, err := r.src.ReadEnvironment(env)
	if err != nil {
		return nil, err
	}
	return &keeper{Environment: e, ctx: ctx}, e.FindKeys()
}

// InitSecrets makes all secrets of a new environment: the Talos bundle, the
// cluster's age key, and the keyring. Existing ones are never overwritten.
func (r *Repo) InitSecrets(ctx context.Context, env string) (*SecretsReport, error) {
	k, err := r.keeper(ctx, env)
	if err != nil {
		return nil, err
	}
	if _, ok := k.Raw[k.File(source.SecretsName)]; ok {
		return nil, diag.New(diag.Pos{File: k.File(source.SecretsName)}, "exists already; secrets are never overwritten").
			WithHint("`talosgen secrets sync %s` adds what is missing", env).WithCode(diag.Secrets)
	}
	if err := k.CheckPlainBundles(); err != nil {
		return nil, err
	}
	return k.fill(&secretsfile.Secrets{})
}

// SyncSecrets adds the secrets that the environment needs and does not have
// yet. What is there stays as it is, byte for byte.
func (r *Repo) SyncSecrets(ctx context.Context, env string) (*SecretsReport, error) {
	k, err := r.keeper(ctx, env)
	if err != nil {
		return nil, err
	}
	return k.fill(&secretsfile.Secrets{})
}

// ImportSecrets takes over the secrets of an existing cluster: a bundle as
// `talosctl gen secrets` writes it, or the machine configuration of a control
// plane; either may be encrypted with SOPS. file is for messages.
func (r *Repo) ImportSecrets(ctx context.Context, env, file string, data []byte) (*SecretsReport, error) {
	k, err := r.keeper(ctx, env)
	if err != nil {
		return nil, err
	}
	if sopsage.IsEncryptedYAML(data) {
		if data, err = k.Keys.DecryptYAML(ctx, file, data); err != nil {
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
	k.Mask(bundle.Values()...)
	text, err := bundle.YAML()
	if err != nil {
		return nil, err
	}
	old, err := k.current()
	if err != nil {
		return nil, err
	}
	if old != nil && !old.Talos.IsZero() {
		return nil, diag.New(diag.Pos{File: k.File(source.SecretsName)}, "has a Talos bundle already; secrets are never overwritten").
			WithHint("remove `%s:` with `talosgen secrets edit %s` first, if no cluster was made from it", secretsfile.KeyTalos, env).WithCode(diag.Secrets)
	}
	return k.fill(&secretsfile.Secrets{Talos: secret.New(string(text))})
}

// current decrypts the secrets that are there; nil if there are none.
func (k *keeper) current() (*secretsfile.Secrets, error) {
	plain, err := k.plain()
	if err != nil || plain == nil {
		return nil, err
	}
	return secretsfile.Parse(k.File(source.SecretsName), plain)
}

func (k *keeper) plain() ([]byte, error) {
	file := k.File(source.SecretsName)
	data, ok := k.Raw[file]
	if !ok {
		return nil, nil
	}
	return k.Keys.DecryptYAML(k.ctx, file, data)
}

// fill generates what is missing in given and in the file, and writes it.
func (k *keeper) fill(given *secretsfile.Secrets) (*SecretsReport, error) {
	rule, err := k.Repo.Rule(k.File(source.SecretsName))
	if err != nil {
		return nil, err
	}
	have, err := k.current()
	if err != nil {
		return nil, err
	}
	if have == nil {
		have = &secretsfile.Secrets{}
	} else if err := k.sameKeysOf(have); err != nil {
		return nil, err
	}
	if err := k.generate(given, have); err != nil {
		return nil, err
	}
	report := &SecretsReport{Env: k.Name}
	if err := k.generateForAddons(given, have, report); err != nil {
		return nil, err
	}
	if report.Added, err = k.addSecrets(given, rule); err != nil {
		return nil, err
	}
	if err := k.makeKeyring(rule, first(have.ClusterAgeKey, given.ClusterAgeKey), first(have.KeyringBinding, given.KeyringBinding), report); err != nil {
		return nil, err
	}
	report.Changed = k.changed
	return report, nil
}

func first(a, b secret.String) secret.String {
	if a.IsZero() {
		return b
	}
	return a
}

// generate makes the secrets that neither given nor have holds.
func (k *keeper) generate(given, have *secretsfile.Secrets) error {
	if given.Talos.IsZero() && have.Talos.IsZero() {
		bundle, err := machine.NewBundle(source.BundleContract(), k.Repo.World.Now())
		if err != nil {
			return err
		}
		text, err := bundle.YAML()
		if err != nil {
			return err
		}
		given.Talos = secret.New(string(text))
	}
	if have.ClusterAgeKey.IsZero() {
		private, _, err := sopsage.GenerateIdentity(k.Repo.World.Random)
		if err != nil {
			return err
		}
		given.ClusterAgeKey = private
	}
	if have.KeyringBinding.IsZero() {
		random := make([]byte, 32)
		if _, err := io.ReadFull(k.Repo.World.Random, random); err != nil {
			return err
		}
		given.KeyringBinding = secret.New(base64.StdEncoding.EncodeToString(random))
	}
	if have.SSHHostKey.IsZero() && mayHaveGateway(k.Raw[k.File(source.ClusterFile)]) {
		private, err := sshkey.New(k.Repo.World.Random)
		if err != nil {
			return err
		}
		given.SSHHostKey = private
	}
	return nil
}

// mayHaveGateway tells whether an environment can turn a NAT gateway on: all
// can but static ones. Whatever else is wrong with the file is reported when it
// is read as a whole.
func mayHaveGateway(clusterYAML []byte) bool {
	var c struct {
		Provider string `yaml:"provider"`
	}
	return yaml.Unmarshal(clusterYAML, &c) == nil && c.Provider != schemas.Static
}

// addSecrets writes secrets into secrets.sops.yaml, or makes the file.
func (k *keeper) addSecrets(given *secretsfile.Secrets, rule *sopsage.Rule) (added []string, err error) {
	file := k.File(source.SecretsName)
	plain, err := k.plain()
	if err != nil {
		return nil, err
	}
	out, added, err := secretsfile.Add(file, plain, given)
	old, exists := k.Raw[file]
	if err != nil || len(added) == 0 && exists && sopsage.CheckWhole(file, old) == nil {
		return nil, err
	}
	var data []byte
	if exists {
		data, err = k.Keys.Reencrypt(k.ctx, file, old, out, k.Repo.World.Now())
	} else {
		data, err = sopsage.Encrypt(file, out, rule, k.Repo.World.Random, k.Repo.World.Now())
	}
	if err != nil {
		return nil, err
	}
	return added, k.write(file, data, !exists)
}

// makeKeyring makes the data keys of the environment if there are none.
func (k *keeper) makeKeyring(rule *sopsage.Rule, clusterKey, binding secret.String, report *SecretsReport) error {
	file := k.File(source.KeyringFile)
	cluster, err := k.clusterRecipients(rule, clusterKey)
	if err != nil {
		return err
	}
	if data, ok := k.Raw[file]; ok {
		keyring, err := sopsage.ParseKeyring(file, data)
		switch {
		case err != nil:
			return err
		case !keyring.Recipients(sopsage.Operator).Equal(rule.Recipients()):
			report.Notes = append(report.Notes, "the recipients in "+source.SopsConfig+" are not those of "+file+"; if they are right, run `talosgen secrets rekey "+k.Name+"`\n"+
				k.Repo.WhoChanges(keyring.Recipients(sopsage.Operator), rule.Recipients()))
		case !keyring.Recipients(sopsage.Cluster).Equal(cluster):
			report.Notes = append(report.Notes, file+" is not for the cluster's age key: run `talosgen secrets rekey "+k.Name+"`")
		}
		return k.upgradeKeyring(keyring, binding, report)
	}
	keyring, err := sopsage.NewKeyring(rule.Recipients(), cluster, binding, k.Repo.World.Random, k.Repo.World.Now())
	if err != nil {
		return err
	}
	data, err := keyring.Encode()
	if err != nil {
		return err
	}
	return k.write(file, data, true)
}

// upgradeKeyring writes a keyring of an older version as it is written now. Its
// data keys stay, so nothing else changes.
func (k *keeper) upgradeKeyring(keyring *sopsage.Keyring, binding secret.String, report *SecretsReport) error {
	if !keyring.Outdated() {
		return nil
	}
	if err := keyring.Upgrade(k.ctx, k.Keys, binding); err != nil {
		return err
	}
	data, err := keyring.Encode()
	if err != nil {
		return err
	}
	report.Notes = append(report.Notes, k.File(source.KeyringFile)+" has version 2 now: its seals cover the recipients; the data keys are the same. "+
		"Render, and commit both: `talosgen render "+k.Name+"`")
	return k.write(k.File(source.KeyringFile), data, false)
}

// sameKeysOf is [Environment.CheckContinuity] for a command that changes the
// secrets of an environment.
func (k *keeper) sameKeysOf(have *secretsfile.Secrets) error {
	if k.Repo.NewKeys {
		return nil
	}
	if _, ok := k.Raw[k.File(source.KeyringFile)]; !ok {
		return k.CheckContinuity(k.ctx, nil)
	}
	s := &source.Secrets{File: have}
	if err := k.UnwrapOperator(k.ctx, s); err != nil {
		return err
	}
	return k.CheckContinuity(k.ctx, s.Operator)
}

// clusterRecipients are who can read the Secrets that Flux decrypts: the
// operators and the cluster's own key.
func (k *keeper) clusterRecipients(rule *sopsage.Rule, clusterKey secret.String) (sopsage.Recipients, error) {
	public, err := sopsage.PublicKeys(k.File(source.SecretsName), []byte(clusterKey.Reveal()))
	if err != nil {
		return sopsage.Recipients{}, err
	}
	return rule.Recipients().With(public...)
}

// write puts a file in place; create says that it must not exist. It never
// writes a secret in the clear.
func (k *keeper) write(file string, data []byte, create bool) error {
	if source.AllSecret(file) {
		if err := sopsage.CheckWhole(file, data); err != nil {
			return err
		}
	}
	var err error
	written := true
	if create {
		err = atomicfile.Create(k.Repo.Files.Path(file), data, 0o644)
	} else {
		written, err = atomicfile.Write(k.Repo.Files.Path(file), data, 0o644)
	}
	if err != nil {
		return diag.New(diag.Pos{File: file}, "cannot be written: %v", source.Reason(err)).WithCause(err)
	}
	if written {
		k.changed = append(k.changed, file)
		k.Raw[file] = data
	}
	return nil
}
