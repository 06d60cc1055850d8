// Package cleartext gives the sources of an environment in the clear: decrypted, each
// once and when it is asked for, or with placeholders where there are no keys.
package cleartext

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/placeholder"
)

// Texts are the sources of an environment. They are not for several goroutines at
// once.
type Texts struct {
	Paths []string          // of all files that can influence a render
	Files map[string][]byte // as they are committed, by their paths
	// Decrypt decrypts a file; nil without keys.
	Decrypt func(file string, data []byte) ([]byte, error)
	// SecretVariables are the names of the variables that are secret.
	SecretVariables []string
	// Mask is told every secret that is decrypted.
	Mask func(secret.String)

	clear      map[string][]byte // decrypted files
	incomplete bool
	warnings   diag.List
}

// Keyless reports whether placeholders stand where secrets belong.
func (t *Texts) Keyless() bool { return t.Decrypt == nil }

// Incomplete reports whether parts of a file that was asked for were left out,
// because without keys nobody knows what they are.
func (t *Texts) Incomplete() bool { return t.incomplete }

// Warnings returns what there is to say of the files that were asked for.
func (t *Texts) Warnings() diag.List { return t.warnings }

// Content returns a file in the clear, and as it is committed if that is
// encrypted.
func (t *Texts) Content(file string) (data, encrypted []byte, err error) {
	data = t.Files[file]
	if !sopsage.NamedEncrypted(file) && !sopsage.IsEncryptedYAML(data) {
		return data, nil, nil
	}
	plain, done := t.clear[file]
	if !done {
		if t.Keyless() {
			plain, err = t.fill(file, data)
		} else {
			plain, err = t.Decrypt(file, data)
			t.maskAll(plain, data)
		}
		if err != nil {
			return nil, nil, err
		}
		t.Set(file, plain)
	}
	return plain, data, nil
}

// Set makes a text what an encrypted file is in the clear.
func (t *Texts) Set(file string, plain []byte) {
	if t.clear == nil {
		t.clear = map[string][]byte{}
	}
	t.clear[file] = plain
}

// fill puts placeholders into an encrypted file.
func (t *Texts) fill(file string, encrypted []byte) ([]byte, error) {
	plain, complete, err := placeholder.Fill(file, encrypted)
	if err == nil && !complete {
		t.incomplete = true
		t.warnings.Add(NotInFull(file))
	}
	return plain, err
}

// NotInFull returns the warning that parts of a file were left out.
func NotInFull(file string) *diag.Problem {
	return diag.New(diag.Pos{File: file}, "not checked in full: without keys its secret values are not known")
}

// maskAll masks what is encrypted in a file: the text of a panic may hold it.
func (t *Texts) maskAll(plain, encrypted []byte) {
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && !bytes.Contains(encrypted, []byte(n.Value)) {
			t.Mask(secret.New(n.Value))
		}
		for _, child := range n.Content {
			walk(child)
		}
	}
	dec := yaml.NewDecoder(bytes.NewReader(plain))
	for {
		var doc yaml.Node
		if dec.Decode(&doc) != nil {
			return // nothing more; what is wrong is reported when it is loaded
		}
		walk(&doc)
	}
}

// RefersToSecret reports whether a text refers to a secret variable.
func (t *Texts) RefersToSecret(text string) bool {
	for _, name := range t.SecretVariables {
		if strings.Contains(text, "${"+name) {
			return true
		}
	}
	return false
}

// NeedsSecrets reports whether a file is encrypted, or refers to a secret
// variable: in double quotes, the brace behind a dollar sign may be an escape.
func (t *Texts) NeedsSecrets(data, encrypted []byte) bool {
	return encrypted != nil || bytes.Contains(data, []byte(`$\`)) || t.RefersToSecret(string(data))
}
