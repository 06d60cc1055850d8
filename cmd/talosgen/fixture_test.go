package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// fixture is the repository that scripts start from.
type fixture struct {
	sources     files // with secrets and keyrings
	rendered    files // the same with rendered trees
	operatorKey []byte
	strangerKey []byte // of somebody who is no recipient
	bundle      []byte // the Talos bundle in the clear
	secrets     []string
	random      io.Reader // the same in every run
}

// prepared makes the fixture, once for all scripts: decrypting is quick, making
// a bundle is not.
var prepared = sync.OnceValues(func() (*fixture, error) {
	dir, err := os.MkdirTemp("", "talosgen-fixture-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	return makeFixture(dir)
})

func makeFixture(dir string) (*fixture, error) {
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "repo.txtar"))
	if err != nil {
		return nil, err
	}
	parts := map[string][]byte{}
	for _, f := range archive.Files {
		parts[f.Name] = f.Data
		if name, ok := strings.CutPrefix(f.Name, "repo/"); ok {
			if err := writeFile(filepath.Join(dir, name), f.Data); err != nil {
				return nil, err
			}
		}
	}
	f := &fixture{
		operatorKey: parts["operator.agekey"], strangerKey: parts["stranger.agekey"], bundle: parts["bundle.yaml"],
		random: rand.NewChaCha8([32]byte{1}),
	}
	if f.secrets, err = leaves(parts["secrets.yaml"]); err != nil {
		return nil, err
	}
	for _, env := range []string{"dev", "lab"} {
		if err := f.encryptSecrets(dir, env, parts["secrets.yaml"]); err != nil {
			return nil, err
		}
		if err := f.talosgen(dir, "secrets", "sync", env); err != nil {
			return nil, err
		}
	}
	if f.sources, err = readFiles(dir); err != nil {
		return nil, err
	}
	if err := f.talosgen(dir, "render", "--all"); err != nil {
		return nil, err
	}
	f.rendered, err = readFiles(dir)
	return f, err
}

// encryptSecrets writes the secrets of an environment.
func (f *fixture) encryptSecrets(dir, env string, plain []byte) error {
	const config = ".sops.yaml"
	data, err := os.ReadFile(filepath.Join(dir, config))
	if err != nil {
		return err
	}
	file := "envs/" + env + "/secrets.sops.yaml"
	rule, err := sopsage.RuleFor(config, data, file)
	if err != nil {
		return err
	}
	encrypted, err := sopsage.Encrypt(file, plain, rule, f.random, fixedTime())
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, file), encrypted)
}

// talosgen runs a command in this process, with the operator's key.
func (f *fixture) talosgen(dir string, args ...string) error {
	var stderr bytes.Buffer
	w := &world{
		stdin: strings.NewReader(""), stdout: io.Discard, stderr: &stderr,
		lookup: func(name string) (string, bool) { return string(f.operatorKey), name == "SOPS_AGE_KEY" },
		cwd:    func() (string, error) { return dir, nil },
		now:    fixedTime, random: f.random, masker: secret.NewMasker(),
	}
	if code := run(append([]string{"talosgen"}, args...), w); code != 0 {
		return fmt.Errorf("talosgen %s: exit code %d\n%s", strings.Join(args, " "), code, stderr.String())
	}
	return nil
}

func fixedTime() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// leaves returns the values in a document that are long enough to be searched
// for in foreign text.
func leaves(document []byte) ([]string, error) {
	const shortest = 12
	var out []string
	dec := yaml.NewDecoder(bytes.NewReader(document))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	var walk func(n *yaml.Node, key bool)
	walk = func(n *yaml.Node, key bool) {
		if n.Kind == yaml.ScalarNode && !key && len(n.Value) >= shortest {
			out = append(out, n.Value)
		}
		for i, c := range n.Content {
			walk(c, n.Kind == yaml.MappingNode && i%2 == 0)
		}
	}
	walk(&doc, false)
	if len(out) == 0 {
		return nil, errors.New("no secrets to look for")
	}
	return out, nil
}

// leaks reports whether a text has a secret in it, in one of the forms in
// which secrets are written.
func (f *fixture) leaks(text string) bool {
	for _, s := range f.secrets {
		quoted, err := json.Marshal(s)
		if err != nil {
			return true
		}
		for _, form := range []string{s, strings.Trim(string(quoted), `"`), base64.StdEncoding.EncodeToString([]byte(s))} {
			if strings.Contains(text, form) {
				return true
			}
		}
		// Most secrets are base64 themselves: what they say must not be there either.
		if plain, err := base64.StdEncoding.DecodeString(s); err == nil && strings.Contains(text, string(plain)) {
			return true
		}
	}
	return false
}
