package source

import (
	"path"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// CheckPlaintext refuses what lies about in the clear and should not: a file
// whose name promises that it is encrypted, a value of a file of which all are
// secret, and secrets bundles. It needs no key, so whatever checks a commit finds
// it.
func (e *Environment) CheckPlaintext() error {
	var problems diag.List
	for _, file := range e.Paths {
		switch {
		case !sopsage.NamedEncrypted(file):
		case IsEncrypted(file, e.Raw[file]) && AllSecret(file):
			problems.AddErr(sopsage.CheckWhole(file, e.Raw[file]))
		case !IsEncrypted(file, e.Raw[file]):
			problems.Add(sopsage.NotEncrypted(file, e.Raw[file]))
		}
	}
	problems.AddErr(e.CheckPlainBundles())
	return problems.Err()
}

// CheckPlaintext refuses secrets in the clear among the sources of an
// environment, of which it reads the encrypted ones alone.
func (r *Repo) CheckPlaintext(env string, paths []string) error {
	e := &Environment{Repo: r, Name: env, Paths: paths, Raw: map[string][]byte{}}
	var problems diag.List
	for _, file := range paths {
		if !sopsage.NamedEncrypted(file) && !slices.Contains(plainBundles, path.Base(file)) {
			continue
		}
		data, err := r.Files.ReadFile(file)
		if err != nil {
			problems.Add(diag.New(diag.Pos{File: file}, "cannot be read: %v", Reason(err)).WithCause(err))
			continue
		}
		e.Raw[file] = data
	}
	if err := problems.Err(); err != nil {
		return err
	}
	return e.CheckPlaintext()
}

// IsEncrypted reports whether a source is encrypted with SOPS.
func IsEncrypted(file string, data []byte) bool {
	if path.Ext(file) == ".env" {
		return sopsage.IsEncryptedDotenv(data)
	}
	return sopsage.IsEncryptedYAML(data)
}

// CheckPlainBundles refuses secrets bundles beside the one that is encrypted.
func (e *Environment) CheckPlainBundles() error {
	var problems diag.List
	for _, name := range plainBundles {
		data, ok := e.Raw[e.File(name)]
		switch {
		case !ok:
		case sopsage.IsEncryptedYAML(data):
			problems.Add(diag.New(diag.Pos{File: e.File(name)}, "a second secrets bundle, beside %s", SecretsName).
				WithHint("take it over with `talosgen secrets import %s %s`, or remove it", e.Name, e.File(name)).WithCode(diag.Secrets))
		default:
			problems.Add(diag.New(diag.Pos{File: e.File(name)}, "a secrets bundle in plaintext").
				WithHint("take it over with `talosgen secrets import %s %s`, then remove it; if it was ever committed, replace the secrets", e.Name, e.File(name)).WithCode(diag.Secrets))
		}
	}
	return problems.Err()
}
