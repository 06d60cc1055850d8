package apply

import (
	"bytes"
	"context"
	"crypto/hmac"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/schemas"
)

// Tree is where a rendered tree is, and what it takes to read it.
type Tree struct {
	Env   string // the name of the environment
	Files fs.FS  // rendered/<env>
	Keys  *sopsage.Keys
	// Masker learns every secret that is decrypted.
	Masker *secret.Masker
	// Version of talosgen, as in "0.1.0".
	Version string
}

// Environment is a rendered tree that is as a render wrote it.
type Environment struct {
	// Infrastructure is what is desired.
	Infrastructure schemas.Infrastructure

	name       string
	files      map[string][]byte // by path in the tree
	keys       *sopsage.Keys
	masker     *secret.Masker
	version    string
	seal       string
	recipients []string // who can decrypt it
	keyless    bool     // nothing can be decrypted, and nothing is known of the seal

	mu    sync.Mutex
	plain map[string]secret.String // files in the clear, those that were asked for
}

// Open reads a tree. It refuses one that is not, to the byte, what a holder of
// the operators' key rendered for this environment.
func Open(ctx context.Context, t Tree) (*Environment, error) {
	e := &Environment{name: t.Env, keys: t.Keys, masker: t.Masker, version: t.Version}
	tree, err := rendered.Read(t.Files, e.path(""), t.Version)
	if err != nil {
		return nil, err
	}
	e.files, e.seal = tree.Files, tree.Lock.Seal
	unmask(e)
	if err := e.verifySeal(ctx, tree.Lock); err != nil {
		return nil, err
	}
	if e.Infrastructure, err = rendered.Infrastructure(e.path(""), tree.Files); err != nil {
		return nil, err
	}
	return e, tree.Lock.CheckCluster(e.path(""), e.Infrastructure.Cluster)
}

// unmask tells the masker what everybody can read: the tree as it is committed,
// and the names in it. A Secret that nobody encrypted does not count: whoever put
// it there hardly meant to.
func unmask(e *Environment) {
	e.masker.Readable().Add([]byte(e.name))
	for name, data := range e.files {
		e.masker.Readable().Add([]byte(name))
		if sopsage.IsEncryptedYAML(data) || !bytes.Contains(data, []byte("kind: Secret")) {
			e.masker.Readable().Add(data)
		}
	}
}

// Name returns the name of the environment.
func (e *Environment) Name() string { return e.name }

// Files are the names of the tree's files, sorted; the lock is the last.
func (e *Environment) Files() []string {
	return append(slices.Sorted(maps.Keys(e.files)), rendered.LockName)
}

// path is where a file of the tree is in the repository, for messages.
func (e *Environment) path(file string) string { return path.Join("rendered", e.name, file) }

// verifySeal derives the seal's key from the data key that the tree's files are
// encrypted with, and compares the seal. All files of the operators must have
// the same data key: a seal could be made by whoever adds a file with a data
// key of their own, for which the operators' public keys suffice.
func (e *Environment) verifySeal(ctx context.Context, lock *rendered.Lock) error {
	var key []byte
	var first string
	for _, name := range slices.Sorted(maps.Keys(e.files)) {
		if rendered.ForCluster(name) {
			continue
		}
		block, err := sopsage.ParseBlock(e.path(name), e.files[name])
		if err != nil {
			return err
		}
		if block == nil {
			continue // it holds no secret
		}
		dataKey, err := e.keys.BlockKey(ctx, e.path(name), block)
		if err != nil {
			return err
		}
		recipients, err := block.Recipients()
		if err != nil {
			return err
		}
		derived := dataKey.Derive(rendered.SealLabel)
		if key == nil {
			key, first, e.recipients = derived, name, recipients.Strings()
		}
		if !hmac.Equal(key, derived) {
			return diag.New(diag.Pos{File: e.path(name)}, "is encrypted with another data key than %s", e.path(first)).
				WithHint("a render encrypts all files with one: run `talosgen render %s --force`, and review what it changes", e.name).
				WithCode(diag.Secrets)
		}
	}
	if key == nil {
		return diag.New(diag.Pos{File: e.path(rendered.LockName)}, "no file of the tree is encrypted, so there is no key to verify its seal with").
			WithHint("run `talosgen render %s --force`", e.name).WithCode(diag.Secrets)
	}
	return e.local(lock.VerifySeal(key))
}

// local gives a problem of the lock its place.
func (e *Environment) local(err error) error {
	var problems diag.List
	problems.AddErr(err)
	for _, p := range problems {
		if p.Object == rendered.LockName {
			p.Object, p.Pos.File = "", e.path(rendered.LockName)
		}
		p.Hint = strings.ReplaceAll(p.Hint, "<env>", e.name)
	}
	return err
}

// Decrypt returns a file of the tree in the clear, in memory only: for nodes
// the machine configuration. The masker knows nothing of what is in it: whoever
// prints a piece of it is to add that piece. A file is decrypted once: who signs
// certificates, who compares nodes and who reads versions ask for the same ones.
func (e *Environment) Decrypt(ctx context.Context, name string) (secret.String, error) {
	data, ok := e.files[name]
	if !ok {
		return secret.String{}, diag.New(diag.Pos{File: e.path(name)}, "is not in the rendered tree").
			WithHint("run `talosgen render %s`, and commit what it writes", e.name)
	}
	if !sopsage.IsEncryptedYAML(data) {
		return secret.New(string(data)), nil
	}
	if e.keyless {
		return secret.String{}, diag.New(diag.Pos{File: e.path(name)}, "is encrypted, and no key was to be used").WithCode(diag.Secrets)
	}
	e.mu.Lock()
	plain, known := e.plain[name]
	e.mu.Unlock()
	if known {
		return plain, nil
	}
	text, err := e.keys.DecryptYAML(ctx, e.path(name), data)
	if err != nil {
		return secret.String{}, err
	}
	return e.keep(name, secret.New(string(text))), nil
}

// keep remembers a file in the clear, and returns it.
func (e *Environment) keep(name string, plain secret.String) secret.String {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.plain == nil {
		e.plain = map[string]secret.String{}
	}
	e.plain[name] = plain
	return plain
}
