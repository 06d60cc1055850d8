package render

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// Files of an environment.
const (
	clusterFile   = "cluster.yaml"
	envFile       = "cluster.env"
	secretEnvFile = "cluster.sops.env"
	keyringFile   = "keyring.yaml"
	secretsName   = secretsfile.Name
)

// plainBundles are names under which people keep a bundle in the clear.
var plainBundles = []string{"secrets.yaml", "talsecret.yaml", "talsecret.sops.yaml"}

// secrets is everything of an environment that had to be decrypted.
type secrets struct {
	bundle    *machine.Bundle
	file      *secretsfile.Secrets
	variables subst.Vars // of secrets.sops.yaml and cluster.sops.env
	operator  *sopsage.DataKey
	cluster   *sopsage.DataKey // nil until it is needed
	warnings  diag.List
}

func (e *environment) path(name string) string { return path.Join(envsDir, e.name, name) }

// openSecrets decrypts what the environment keeps encrypted. All problems are
// reported, each with the command that helps.
func (e *environment) openSecrets(ctx context.Context) (*secrets, error) {
	if err := e.findKeys(); err != nil {
		return nil, err
	}
	s := &secrets{variables: subst.Vars{}}
	var problems diag.List
	problems.AddErr(e.openOperator(ctx, s))
	problems.AddErr(e.readSecretEnv(ctx, s))
	if s.file != nil {
		problems.AddErr(e.readBundle(s))
	}
	s.warnings.Add(e.checkRecipients())
	return s, problems.Err()
}

// checkRecipients warns if .sops.yaml names other operators than those who can
// read what is rendered. What is wrong with either file is for the commands
// that need it: a render works with the keyring alone.
func (e *environment) checkRecipients() *diag.Problem {
	file := e.path(keyringFile)
	keyring, err := sopsage.ParseKeyring(file, e.raw[file])
	if err != nil {
		return nil
	}
	rule, err := e.repo.rule(e.path(secretsName))
	if err != nil || keyring.Recipients(sopsage.Operator).Equal(rule.Recipients()) {
		return nil
	}
	hint := "`talosgen secrets rekey " + e.name + "` encrypts everything for the present recipients"
	if who := e.repo.whoChanges(keyring.Recipients(sopsage.Operator), rule.Recipients()); who != "" {
		hint = who + "\nif that is right, " + hint
	}
	return diag.New(diag.Pos{File: sopsConfig}, "its recipients are not those of %s", file).WithHint("%s", hint)
}

// openOperator decrypts what files under nodes/ are encrypted and sealed with.
func (e *environment) openOperator(ctx context.Context, s *secrets) error {
	if err := e.readSecretsFile(ctx, s); err != nil {
		return err
	}
	return e.unwrapOperator(ctx, s)
}

// checkPlaintext refuses what lies about in the clear and should not: a file
// whose name promises that it is encrypted, a value of a file of which all are
// secret, and secrets bundles. It needs no key, so whatever checks a commit finds
// it.
func (e *environment) checkPlaintext() error {
	var problems diag.List
	for _, file := range e.paths {
		switch {
		case !sopsage.NamedEncrypted(file):
		case encrypted(file, e.raw[file]) && allSecret(file):
			problems.AddErr(sopsage.CheckWhole(file, e.raw[file]))
		case !encrypted(file, e.raw[file]):
			problems.Add(sopsage.NotEncrypted(file, e.raw[file]))
		}
	}
	problems.AddErr(e.checkPlainBundles())
	return problems.Err()
}

func encrypted(file string, data []byte) bool {
	if path.Ext(file) == ".env" {
		return sopsage.IsEncryptedDotenv(data)
	}
	return sopsage.IsEncryptedYAML(data)
}

// checkPlainBundles refuses secrets bundles beside the one that is encrypted.
func (e *environment) checkPlainBundles() error {
	var problems diag.List
	for _, name := range plainBundles {
		data, ok := e.raw[e.path(name)]
		switch {
		case !ok:
		case sopsage.IsEncryptedYAML(data):
			problems.Add(diag.New(diag.Pos{File: e.path(name)}, "a second secrets bundle, beside %s", secretsName).
				WithHint("take it over with `talosgen secrets import %s %s`, or remove it", e.name, e.path(name)).WithCode(diag.Secrets))
		default:
			problems.Add(diag.New(diag.Pos{File: e.path(name)}, "a secrets bundle in plaintext").
				WithHint("take it over with `talosgen secrets import %s %s`, then remove it; if it was ever committed, replace the secrets", e.name, e.path(name)).WithCode(diag.Secrets))
		}
	}
	return problems.Err()
}

func (e *environment) readSecretsFile(ctx context.Context, s *secrets) error {
	file := e.path(secretsName)
	data, ok := e.raw[file]
	if !ok {
		return diag.New(diag.Pos{File: file}, "does not exist: the environment has no secrets").
			WithHint("make them with `talosgen secrets init %s`, or take over existing ones with `talosgen secrets import`;\na render never invents secrets, because a cluster could not be reached with others", e.name).WithCode(diag.Secrets)
	}
	plain, err := e.keys.DecryptYAML(ctx, file, data)
	if err != nil {
		return err
	}
	if s.file, err = secretsfile.Parse(file, plain); err != nil {
		return err
	}
	e.mask(s.file.ClusterAgeKey, s.file.KeyringBinding, s.file.ChecksumKey, s.file.SSHHostKey)
	for name, v := range s.file.Variables {
		e.mask(v)
		s.variables[name] = subst.Var{Value: v.Reveal(), Secret: true, Pos: diag.Pos{File: file}}
	}
	return nil
}

// mask makes the masker know secrets.
func (e *environment) mask(values ...secret.String) {
	e.repo.world.Masker.Add(values...)
}

// readSecretEnv reads the secret variables of cluster.sops.env, if there are
// any.
func (e *environment) readSecretEnv(ctx context.Context, s *secrets) error {
	file := e.path(secretEnvFile)
	data, ok := e.raw[file]
	if !ok {
		return nil
	}
	plain, err := e.keys.DecryptDotenv(ctx, file, data)
	if err != nil {
		return err
	}
	vars, err := subst.ParseEnv(file, plain)
	if err != nil {
		return err
	}
	var problems diag.List
	for name, v := range vars {
		e.mask(secret.New(v.Value))
		if other, twice := s.variables[name]; twice {
			problems.Add(diag.New(v.Pos, "variable %s is in %s too", name, other.Pos.File).WithHint("keep one of them"))
		}
		v.Secret = true
		s.variables[name] = v
	}
	return problems.Err()
}

func (e *environment) readBundle(s *secrets) error {
	file := diag.Pos{File: e.path(secretsName)}
	if s.file.Talos.IsZero() {
		return diag.New(file, "has no Talos secrets bundle (%s:)", secretsfile.KeyTalos).
			WithHint("make one with `talosgen secrets sync %s`, or take one over with `talosgen secrets import`", e.name).WithCode(diag.Secrets)
	}
	bundle, err := machine.ParseBundle([]byte(s.file.Talos.Reveal()))
	if err != nil {
		return diag.New(file, "%s: %v", secretsfile.KeyTalos, err).WithCode(diag.Secrets)
	}
	e.mask(bundle.Values()...)
	s.bundle = bundle
	return nil
}

// unwrapOperator opens the data key that files under nodes/ are encrypted with.
func (e *environment) unwrapOperator(ctx context.Context, s *secrets) error {
	file := e.path(keyringFile)
	data, ok := e.raw[file]
	if !ok {
		return diag.New(diag.Pos{File: file}, "does not exist: there are no keys to encrypt with").
			WithHint("make them with `talosgen secrets sync %s`", e.name).WithCode(diag.Secrets)
	}
	keyring, err := sopsage.ParseKeyring(file, data)
	if err != nil {
		return err
	}
	s.operator, err = keyring.Unwrap(ctx, e.keys, sopsage.Operator, s.file.KeyringBinding)
	return err
}

// ExampleKey returns the key file that an environment's cluster.yaml names for
// an example, with its public keys; nil if it names none. Everybody has that
// key, so nothing real may be encrypted for it.
func (r *Repo) ExampleKey(env string) (*sopsage.KeyFile, []string, error) {
	if err := r.checkLinks(env); err != nil {
		return nil, nil, err
	}
	e := &environment{repo: r, name: env}
	data, err := r.files.ReadFile(e.path(clusterFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil // the environment may be gone, and its cluster not yet
	}
	if err != nil {
		return nil, nil, diag.New(diag.Pos{File: e.path(clusterFile)}, "cannot be read: %v", reason(err)).WithCause(err)
	}
	key, err := e.exampleKey(exampleKeyName(data))
	if key == nil || err != nil {
		return nil, nil, err
	}
	public, err := sopsage.PublicKeys(key.Name, key.Data)
	return key, public, err
}

// exampleKey returns the key file that cluster.yaml names for examples. The
// file is needed before cluster.yaml can be read whole, because variables may
// be encrypted; so it is looked for on its own, and cannot hold a variable.
func (e *environment) exampleKey(name string) (*sopsage.KeyFile, error) {
	file := path.Join(envsDir, e.name, name) // cleaned
	if name == "" {
		return nil, nil
	}
	if path.IsAbs(name) || strings.HasPrefix(file, "../") {
		return nil, diag.New(diag.Pos{File: e.path(clusterFile)}, "secrets.exampleKeyFile leads out of the repository").
			WithHint("it is for keys of examples, which everyone may read; keep real keys where sops finds them: ~/.config/sops/age/keys.txt or $SOPS_AGE_KEY_FILE")
	}
	data, err := e.repo.files.guard.ReadFile(file)
	if err != nil {
		p := diag.New(diag.Pos{File: file}, "the example key cannot be read: %v", reason(err)).WithCode(diag.Secrets).WithCause(err)
		if errors.Is(err, fs.ErrNotExist) {
			p.WithHint("%s names it in secrets.exampleKeyFile", e.path(clusterFile))
		}
		return nil, p
	}
	return &sopsage.KeyFile{Name: file, Data: data}, nil
}
