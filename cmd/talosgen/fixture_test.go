package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
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
		random: rand.NewChaCha8([32]byte{1}), secrets: []string{simToken, receiverPath, receiverKey, receiverToken},
	}
	for _, env := range []string{"dev", "lab"} {
		parts["encrypt/envs/"+env+"/secrets.sops.yaml"] = parts["secrets.yaml"]
	}
	if err := f.encrypt(dir, parts); err != nil {
		return nil, err
	}
	for _, env := range []string{"dev", "lab"} {
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

// encrypt writes the parts below encrypt/ into the repository, encrypted, and
// remembers what is secret in them.
func (f *fixture) encrypt(dir string, parts map[string][]byte) error {
	const config = ".sops.yaml"
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		file, ok := strings.CutPrefix(part, "encrypt/")
		if !ok {
			continue
		}
		rule, err := sopsage.RuleFor(config, parts["repo/"+config], file)
		if err != nil {
			return err
		}
		encrypted, err := sopsage.Encrypt(file, parts[part], rule, f.random, fixedTime())
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, file), encrypted); err != nil {
			return err
		}
		plain := parts[part]
		if path.Ext(file) == ".env" {
			plain = bytes.ReplaceAll(plain, []byte("="), []byte(": ")) // as YAML
		}
		if f.secrets, err = appendSecrets(f.secrets, plain); err != nil {
			return err
		}
	}
	return nil
}

// talosgen runs a command in this process, with the operator's key.
func (f *fixture) talosgen(dir string, args ...string) error {
	var stderr bytes.Buffer
	w := &app{
		console: console{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &stderr, masker: secret.NewMasker()},
		vars:    func(name string) (string, bool) { return string(f.operatorKey), name == "SOPS_AGE_KEY" },
		cwd:     func() (string, error) { return dir, nil },
		clock:   clock{fixedTime, sleepFor}, memory: heapMemory, random: f.random,
	}
	if code := run(append([]string{"talosgen"}, args...), w); code != 0 {
		return fmt.Errorf("talosgen %s: exit code %d\n%s", strings.Join(args, " "), code, stderr.String())
	}
	return nil
}

func fixedTime() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

// appendSecrets appends the values in a document that are long enough to be
// searched for in foreign text.
func appendSecrets(secrets []string, document []byte) ([]string, error) {
	const shortest = 12
	var doc yaml.Node
	if err := yaml.Unmarshal(document, &doc); err != nil {
		return nil, err
	}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && len(n.Value) >= shortest {
			secrets = append(secrets, n.Value)
		}
		for i, c := range n.Content {
			if n.Kind != yaml.MappingNode || i%2 == 1 && n.Content[i-1].Value != "kind" {
				walk(c)
			}
		}
	}
	walk(&doc)
	return secrets, nil
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
