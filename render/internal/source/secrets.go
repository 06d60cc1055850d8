package source

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/layer"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/secretsfile"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// Files of an environment.
const (
	ClusterFile   = layer.ClusterFile
	envFile       = "cluster.env"
	secretEnvFile = "cluster.sops.env"
	KeyringFile   = "keyring.yaml"
	SecretsName   = secretsfile.Name
)

// plainBundles are names under which people keep a bundle in the clear.
var plainBundles = []string{"secrets.yaml", "talsecret.yaml", "talsecret.sops.yaml"}

// Secrets is everything of an environment that had to be decrypted.
type Secrets struct {
	Bundle    *machine.Bundle
	File      *secretsfile.Secrets
	Variables subst.Vars       // of secrets.sops.yaml and cluster.sops.env
	Operator  *sopsage.DataKey // nil without keys
	Cluster   *sopsage.DataKey // nil until it is needed
	Warnings  diag.List
}

// File returns the path of a file of the environment, from the root of the
// repository.
func (e *Environment) File(name string) string { return path.Join(EnvsDir, e.Name, name) }

// OpenSecrets decrypts what the environment keeps encrypted. All problems are
// reported, each with the command that helps.
func (e *Environment) OpenSecrets(ctx context.Context) (*Secrets, error) {
	if err := e.FindKeys(); err != nil {
		return nil, err
	}
	s := &Secrets{Variables: subst.Vars{}}
	var problems diag.List
	problems.AddErr(e.OpenOperator(ctx, s))
	problems.AddErr(e.ReadSecretEnv(ctx, s))
	if s.File != nil {
		problems.AddErr(e.readBundle(s))
	}
	s.Warnings.Add(e.checkRecipients())
	return s, problems.Err()
}

// checkRecipients warns if .sops.yaml names other operators than those who can
// read what is rendered. What is wrong with either file is for the commands
// that need it: a render works with the keyring alone.
func (e *Environment) checkRecipients() *diag.Problem {
	file := e.File(KeyringFile)
	keyring, err := sopsage.ParseKeyring(file, e.Raw[file])
	if err != nil {
		return nil
	}
	rule, err := e.Repo.Rule(e.File(SecretsName))
	if err != nil || keyring.Recipients(sopsage.Operator).Equal(rule.Recipients()) {
		return nil
	}
	hint := "`talosgen secrets rekey " + e.Name + "` encrypts everything for the present recipients"
	if who := e.Repo.WhoChanges(keyring.Recipients(sopsage.Operator), rule.Recipients()); who != "" {
		hint = who + "\nif that is right, " + hint
	}
	return diag.New(diag.Pos{File: SopsConfig}, "its recipients are not those of %s", file).WithHint("%s", hint)
}

// OpenOperator decrypts what files under nodes/ are encrypted and sealed with.
func (e *Environment) OpenOperator(ctx context.Context, s *Secrets) error {
	if err := e.readSecretsFile(ctx, s); err != nil {
		return err
	}
	return e.UnwrapOperator(ctx, s)
}

func (e *Environment) readSecretsFile(ctx context.Context, s *Secrets) error {
	file := e.File(SecretsName)
	data, ok := e.Raw[file]
	if !ok {
		return diag.New(diag.Pos{File: file}, "does not exist: the environment has no secrets").
			WithHint("make them with `talosgen secrets init %s`, or take over existing ones with `talosgen secrets import`;\na render never invents secrets, because a cluster could not be reached with others", e.Name).WithCode(diag.Secrets)
	}
	plain, err := e.Keys.DecryptYAML(ctx, file, data)
	if err != nil {
		return err
	}
	if s.File, err = secretsfile.Parse(file, plain); err != nil {
		return err
	}
	e.Mask(s.File.ClusterAgeKey, s.File.KeyringBinding, s.File.ChecksumKey, s.File.SSHHostKey)
	for name, v := range s.File.Variables {
		e.Mask(v)
		s.Variables[name] = subst.Var{Value: v.Reveal(), Secret: true, Pos: diag.Pos{File: file}}
	}
	return nil
}

// Mask makes the masker know secrets.
func (e *Environment) Mask(values ...secret.String) {
	e.Repo.Process.Masker.Add(values...)
}

// ReadSecretEnv reads the secret variables of cluster.sops.env, if there are
// any.
func (e *Environment) ReadSecretEnv(ctx context.Context, s *Secrets) error {
	file := e.File(secretEnvFile)
	data, ok := e.Raw[file]
	if !ok {
		return nil
	}
	plain, err := e.Keys.DecryptDotenv(ctx, file, data)
	if err != nil {
		return err
	}
	vars, err := subst.ParseEnv(file, plain)
	if err != nil {
		return err
	}
	var problems diag.List
	for name, v := range vars {
		e.Mask(secret.New(v.Value))
		if other, twice := s.Variables[name]; twice {
			problems.Add(diag.New(v.Pos, "variable %s is in %s too", name, other.Pos.File).WithHint("keep one of them"))
		}
		v.Secret = true
		s.Variables[name] = v
	}
	return problems.Err()
}

func (e *Environment) readBundle(s *Secrets) error {
	file := diag.Pos{File: e.File(SecretsName)}
	if s.File.Talos.IsZero() {
		return diag.New(file, "has no Talos secrets bundle (%s:)", secretsfile.KeyTalos).
			WithHint("make one with `talosgen secrets sync %s`, or take one over with `talosgen secrets import`", e.Name).WithCode(diag.Secrets)
	}
	bundle, err := machine.ParseBundle([]byte(s.File.Talos.Reveal()))
	if err != nil {
		return diag.New(file, "%s: %v", secretsfile.KeyTalos, err).WithCode(diag.Secrets)
	}
	var otherKey machine.Key
	if r := s.File.Rotation; r != nil && r.Kind == rotation.EncryptionKey {
		otherKey = machine.Key{Name: r.Other.Name, Secret: r.Other.Key}
		e.Mask(r.Other.Key)
	} else if r != nil && r.Kind == rotation.AgeKey {
		e.Mask(r.Other.Key)
	} else if r != nil {
		if bundle, err = bundle.Accepting(r.Kind, r.Other.Certificate, r.Other.Key); err != nil {
			return diag.New(file, "%s: %v", secretsfile.KeyRotation, err).WithCode(diag.Secrets)
		}
		e.Mask(r.Other.Key)
	}
	bundle = bundle.Encrypting(s.File.EncryptionKeyName, otherKey)
	e.Mask(bundle.Values()...)
	s.Bundle = bundle
	return nil
}

// UnwrapOperator opens the data key that files under nodes/ are encrypted with.
func (e *Environment) UnwrapOperator(ctx context.Context, s *Secrets) error {
	file := e.File(KeyringFile)
	data, ok := e.Raw[file]
	if !ok {
		return diag.New(diag.Pos{File: file}, "does not exist: there are no keys to encrypt with").
			WithHint("make them with `talosgen secrets sync %s`", e.Name).WithCode(diag.Secrets)
	}
	keyring, err := sopsage.ParseKeyring(file, data)
	if err != nil {
		return err
	}
	s.Operator, err = keyring.Unwrap(ctx, e.Keys, sopsage.Operator, s.File.KeyringBinding)
	return err
}

// ExampleKey returns the key file that an environment's cluster.yaml names for
// an example, with its public keys; nil if it names none. Everybody has that
// key, so nothing real may be encrypted for it.
func (r *Repo) ExampleKey(env string) (*sopsage.KeyFile, []string, error) {
	if err := r.CheckLinks(env); err != nil {
		return nil, nil, err
	}
	e, err := r.ReadPart(env, ClusterFile) // the environment may be gone, and its cluster not yet
	if err != nil {
		return nil, nil, err
	}
	key, err := e.exampleKey(e.exampleKeyName())
	if key == nil || err != nil {
		return nil, nil, err
	}
	public, err := sopsage.PublicKeys(key.Name, key.Data)
	return key, public, err
}

// exampleKey returns the key file that cluster.yaml names for examples. The
// file is needed before cluster.yaml can be read whole, because variables may
// be encrypted; so it is looked for on its own, and cannot hold a variable.
func (e *Environment) exampleKey(name string) (*sopsage.KeyFile, error) {
	file := path.Join(EnvsDir, e.Name, name) // cleaned
	if name == "" {
		return nil, nil
	}
	if path.IsAbs(name) || strings.HasPrefix(file, "../") {
		return nil, diag.New(diag.Pos{File: e.File(ClusterFile)}, "secrets.exampleKeyFile leads out of the repository").
			WithHint("it is for keys of examples, which everyone may read; keep real keys where sops finds them: ~/.config/sops/age/keys.txt or $SOPS_AGE_KEY_FILE")
	}
	data, err := e.Repo.Files.ReadInside(file)
	if err != nil {
		p := diag.New(diag.Pos{File: file}, "the example key cannot be read: %v", Reason(err)).WithCode(diag.Secrets).WithCause(err)
		if errors.Is(err, fs.ErrNotExist) {
			p.WithHint("%s names it in secrets.exampleKeyFile", e.File(ClusterFile))
		}
		return nil, p
	}
	return &sopsage.KeyFile{Name: file, Data: data}, nil
}
