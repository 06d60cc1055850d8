package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// operatorKeys finds the age key of the operator, or makes one.
type operatorKeys struct {
	vars   environ
	keys   keySource
	clock  clock
	random io.Reader
}

// find finds the age key of the operator, or makes one where
// sops will find it.
func (k operatorKeys) find() (file, recipient string, made bool, err error) {
	file, ok := k.vars("SOPS_AGE_KEY_FILE")
	if !ok || file == "" {
		file = k.keys.env().ConfigKeyFile()
	}
	if file == "" {
		return "", "", false, diag.On("age key", "the home directory is unknown").
			WithHint("name a file in $SOPS_AGE_KEY_FILE").WithCode(diag.Secrets)
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		recipient, err = k.make(file)
		return file, recipient, true, err
	}
	if err != nil {
		return file, "", false, diag.New(diag.Pos{File: file}, "your age keys cannot be read: %v", err).WithCode(diag.Secrets).WithCause(err)
	}
	public, err := sopsage.PublicKeys(file, data)
	if err != nil {
		return file, "", false, err
	}
	if len(public) == 0 {
		return file, "", false, diag.New(diag.Pos{File: file}, "contains no age key with a public key").
			WithHint("add one with `age-keygen >> %s`", file).WithCode(diag.Secrets)
	}
	return file, public[0], false, nil
}

// make writes a new key as age-keygen does.
func (k operatorKeys) make(file string) (recipient string, err error) {
	private, public, err := sopsage.GenerateIdentity(k.random)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", diag.New(diag.Pos{File: file}, "cannot be made: %v", err).WithCause(err)
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "# created: %s\n# public key: %s\n%s\n", k.clock.now().UTC().Format(time.RFC3339), public, private.Reveal())
	if err := atomicfile.Create(file, text.Bytes(), 0o600); err != nil {
		return "", diag.New(diag.Pos{File: file}, "cannot be written: %v", err).WithCause(err)
	}
	return public, nil
}
