package render

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"path"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/schemas"
)

// keeper makes and changes the secret files of an environment.
type keeper struct {
	*environment
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
	e, err := r.readEnvironment(env)
	if err != nil {
		return nil, err
	}
	return &keeper{environment: e, ctx: ctx}, e.findKeys()
}

// InitSecrets makes all secrets of a new environment: the Talos bundle, the
// cluster's age key, and the keyring. Existing ones are never overwritten.
func (r *Repo) InitSecrets(ctx context.Context, env string) (*SecretsReport, error) {
	k, err := r.keeper(ctx, env)
	if err != nil {
		return nil, err
	}
	if _, ok := k.raw[k.path(secretsName)]; ok {
		return nil, diag.New(diag.Pos{File: k.path(secretsName)}, "exists already; secrets are never overwritten").
			WithHint("`talosgen secrets sync %s` adds what is missing", env).WithCode(diag.Secrets)
	}
	if err := k.checkPlainBundles(); err != nil {
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
		if data, err = k.keys.DecryptYAML(ctx, file, data); err != nil {
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
	k.mask(bundle.Values()...)
	text, err := bundle.YAML()
	if err != nil {
		return nil, err
	}
	old, err := k.current()
	if err != nil {
		return nil, err
	}
	if old != nil && !old.Talos.IsZero() {
		return nil, diag.New(diag.Pos{File: k.path(secretsName)}, "has a Talos bundle already; secrets are never overwritten").
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
	return secretsfile.Parse(k.path(secretsName), plain)
}

func (k *keeper) plain() ([]byte, error) {
	file := k.path(secretsName)
	data, ok := k.raw[file]
	if !ok {
		return nil, nil
	}
	return k.keys.DecryptYAML(k.ctx, file, data)
}

// fill generates what is missing in given and in the file, and writes it.
func (k *keeper) fill(given *secretsfile.Secrets) (*SecretsReport, error) {
	rule, err := k.repo.rule(k.path(secretsName))
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
	report := &SecretsReport{Env: k.name}
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
		bundle, err := machine.NewBundle(bundleContract(), k.repo.world.Now())
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
		private, _, err := sopsage.GenerateIdentity(k.repo.world.Random)
		if err != nil {
			return err
		}
		given.ClusterAgeKey = private
	}
	if have.KeyringBinding.IsZero() {
		random := make([]byte, 32)
		if _, err := io.ReadFull(k.repo.world.Random, random); err != nil {
			return err
		}
		given.KeyringBinding = secret.New(base64.StdEncoding.EncodeToString(random))
	}
	if have.SSHHostKey.IsZero() && mayHaveGateway(k.raw[k.path(clusterFile)]) {
		private, err := sshkey.New(k.repo.world.Random)
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
	file := k.path(secretsName)
	plain, err := k.plain()
	if err != nil {
		return nil, err
	}
	out, added, err := secretsfile.Add(file, plain, given)
	old, exists := k.raw[file]
	if err != nil || len(added) == 0 && exists && sopsage.CheckWhole(file, old) == nil {
		return nil, err
	}
	var data []byte
	if exists {
		data, err = k.keys.Reencrypt(k.ctx, file, old, out, k.repo.world.Now())
	} else {
		data, err = sopsage.Encrypt(file, out, rule, k.repo.world.Random, k.repo.world.Now())
	}
	if err != nil {
		return nil, err
	}
	return added, k.write(file, data, !exists)
}

// makeKeyring makes the data keys of the environment if there are none.
func (k *keeper) makeKeyring(rule *sopsage.Rule, clusterKey, binding secret.String, report *SecretsReport) error {
	file := k.path(keyringFile)
	cluster, err := k.clusterRecipients(rule, clusterKey)
	if err != nil {
		return err
	}
	if data, ok := k.raw[file]; ok {
		keyring, err := sopsage.ParseKeyring(file, data)
		switch {
		case err != nil:
			return err
		case !keyring.Recipients(sopsage.Operator).Equal(rule.Recipients()):
			report.Notes = append(report.Notes, "the recipients in "+sopsConfig+" are not those of "+file+"; if they are right, run `talosgen secrets rekey "+k.name+"`\n"+
				k.repo.whoChanges(keyring.Recipients(sopsage.Operator), rule.Recipients()))
		case !keyring.Recipients(sopsage.Cluster).Equal(cluster):
			report.Notes = append(report.Notes, file+" is not for the cluster's age key: run `talosgen secrets rekey "+k.name+"`")
		}
		return k.upgradeKeyring(keyring, binding, report)
	}
	keyring, err := sopsage.NewKeyring(rule.Recipients(), cluster, binding, k.repo.world.Random, k.repo.world.Now())
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
	if err := keyring.Upgrade(k.ctx, k.keys, binding); err != nil {
		return err
	}
	data, err := keyring.Encode()
	if err != nil {
		return err
	}
	report.Notes = append(report.Notes, k.path(keyringFile)+" has version 2 now: its seals cover the recipients; the data keys are the same. "+
		"Render, and commit both: `talosgen render "+k.name+"`")
	return k.write(k.path(keyringFile), data, false)
}

// sameKeysOf is [environment.checkContinuity] for a command that changes the
// secrets of an environment.
func (k *keeper) sameKeysOf(have *secretsfile.Secrets) error {
	if k.repo.newKeys {
		return nil
	}
	if _, ok := k.raw[k.path(keyringFile)]; !ok {
		return k.checkContinuity(k.ctx, nil)
	}
	s := &secrets{file: have}
	if err := k.unwrapOperator(k.ctx, s); err != nil {
		return err
	}
	return k.checkContinuity(k.ctx, s.operator)
}

// clusterRecipients are who can read the Secrets that Flux decrypts: the
// operators and the cluster's own key.
func (k *keeper) clusterRecipients(rule *sopsage.Rule, clusterKey secret.String) (sopsage.Recipients, error) {
	public, err := sopsage.PublicKeys(k.path(secretsName), []byte(clusterKey.Reveal()))
	if err != nil {
		return sopsage.Recipients{}, err
	}
	return rule.Recipients().With(public...)
}

// rule finds the creation rule of .sops.yaml for a file.
func (r *Repo) rule(file string) (*sopsage.Rule, error) {
	data, err := r.files.ReadFile(sopsConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.New(diag.Pos{File: sopsConfig}, "does not exist: it says for whom secrets are encrypted").
			WithHint("write one with the public key of each operator:\ncreation_rules:\n  - path_regex: \\.sops\\.(yaml|env)$\n    age: age1...").WithCode(diag.Secrets)
	}
	if err != nil {
		return nil, diag.New(diag.Pos{File: sopsConfig}, "cannot be read: %v", reason(err)).WithCause(err)
	}
	rule, err := sopsage.RuleFor(sopsConfig, data, file)
	if err != nil || !allSecret(file) {
		return rule, err
	}
	return rule.Whole(), nil
}

// allSecret tells whether every value of an encrypted source is secret: of the
// files that hold the secrets of an environment. An encrypted patch may have
// readable values, such as the kind of its document.
func allSecret(file string) bool {
	dir, name := path.Split(file)
	return (name == secretsName || name == secretEnvFile) && path.Dir(path.Clean(dir)) == envsDir
}

// write puts a file in place; create says that it must not exist. It never
// writes a secret in the clear.
func (k *keeper) write(file string, data []byte, create bool) error {
	if allSecret(file) {
		if err := sopsage.CheckWhole(file, data); err != nil {
			return err
		}
	}
	var err error
	written := true
	if create {
		err = atomicfile.Create(k.repo.files.path(file), data, 0o644)
	} else {
		written, err = atomicfile.Write(k.repo.files.path(file), data, 0o644)
	}
	if err != nil {
		return diag.New(diag.Pos{File: file}, "cannot be written: %v", reason(err)).WithCause(err)
	}
	if written {
		k.changed = append(k.changed, file)
		k.raw[file] = data
	}
	return nil
}
