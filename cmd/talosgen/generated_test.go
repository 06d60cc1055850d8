package main

import (
	"bytes"
	cryptorand "crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/generate"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sopsage"
)

// generated is a generated repository on a disk.
type generated struct {
	generate.Repository
	dir     string
	secrets []string
	random  io.Reader
	said    bytes.Buffer // all that was ever printed
}

// parts are those of the file that scripts start from: keys, and a bundle.
var parts = sync.OnceValues(func() (map[string][]byte, error) {
	archive, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "repo.txtar"))
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, f := range archive.Files {
		all[f.Name] = f.Data
	}
	return all, nil
})

// operatorKey is the private key in a file of age-keygen.
func operatorKey(file []byte) string {
	lines := strings.Split(strings.TrimSpace(string(file)), "\n")
	return lines[len(lines)-1]
}

// layOut writes a repository into a directory, with its secrets: those of Talos
// are the same in each, as they take long to make.
func layOut(dir string, o generate.Options) (*generated, error) {
	parts, err := parts()
	if err != nil {
		return nil, err
	}
	o.ExampleKey = operatorKey(parts["operator.agekey"])
	return layOutOf(dir, generate.New(o))
}

// layOutOf is [layOut] of a repository that is made already.
func layOutOf(dir string, r generate.Repository) (*generated, error) {
	parts, err := parts()
	if err != nil {
		return nil, err
	}
	g := &generated{Repository: r, dir: dir, random: rand.NewChaCha8([32]byte{byte(r.Seed), byte(r.Seed >> 8), 1})}
	const config = ".sops.yaml"
	for name, text := range g.Files {
		if err := writeFile(filepath.Join(dir, name), []byte(text)); err != nil {
			return nil, err
		}
	}
	if err := writeFile(filepath.Join(dir, config), parts["repo/"+config]); err != nil {
		return nil, err
	}
	for _, e := range g.Environments {
		var content map[string]any
		if err := yaml.Unmarshal(parts["secrets.yaml"], &content); err != nil {
			return nil, err
		}
		content["variables"] = e.Secrets
		plain, err := yaml.Marshal(content)
		if err != nil {
			return nil, err
		}
		if g.secrets, err = appendSecrets(g.secrets, plain); err != nil {
			return nil, err
		}
		file := "envs/" + e.Name + "/secrets.sops.yaml"
		rule, err := sopsage.RuleFor(config, parts["repo/"+config], file)
		if err != nil {
			return nil, err
		}
		encrypted, err := sopsage.Encrypt(file, plain, rule, g.random, fixedTime())
		if err != nil {
			return nil, err
		}
		if err := writeFile(filepath.Join(dir, file), encrypted); err != nil {
			return nil, err
		}
		if code, said := g.runIn(g.offerPair, "secrets", "sync", e.Name); code != 0 {
			return nil, fmt.Errorf("secrets sync %s: exit code %d\n%s", e.Name, code, said)
		}
	}
	return g, nil
}

// pairVariable is where secrets sync looks for a key pair of sealed secrets, before it
// makes one.
const pairVariable = "SEALED_SECRETS_KEY_PAIR"

// sealingPair is a key pair of sealed secrets. To make one takes as long as ten renders.
var sealingPair = sync.OnceValues(func() (string, error) {
	key, err := rsa.GenerateKey(cryptorand.Reader, 4096)
	if err != nil {
		return "", err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: fixedTime(), NotAfter: fixedTime().AddDate(1000, 0, 0)}
	certificate, err := x509.CreateCertificate(cryptorand.Reader, template, template, key.Public(), key)
	if err != nil {
		return "", err
	}
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return block("CERTIFICATE", certificate) + block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)), nil
})

// offerPair has a key pair of sealed secrets in the environment, but for one in 32
// repositories, for which secrets sync makes it.
func (g *generated) offerPair(w *app) {
	vars := w.vars
	w.vars = func(name string) (string, bool) {
		if name != pairVariable || g.Seed%32 == 0 {
			return vars(name)
		}
		pair, err := sealingPair()
		return pair, err == nil
	}
}

// run runs a command in the repository, and returns what it prints.
func (g *generated) run(args ...string) (code int, said string) { return g.runIn(nil, args...) }

// runIn is [generated.run] in an app that is changed first.
func (g *generated) runIn(change func(*app), args ...string) (code int, said string) {
	var out bytes.Buffer
	parts, err := parts()
	if err != nil {
		return -1, err.Error()
	}
	w := &app{
		console: console{stdin: strings.NewReader(""), stdout: &out, stderr: &out, masker: secret.NewMasker()},
		vars: func(name string) (string, bool) {
			if name != "SOPS_AGE_KEY" {
				return "", false
			}
			return string(parts["operator.agekey"]), true
		},
		cwd:   func() (string, error) { return g.dir, nil },
		clock: clock{fixedTime, sleepFor}, memory: heapMemory, random: g.random,
	}
	if change != nil {
		change(w)
	}
	code = run(append([]string{"talosgen"}, args...), w)
	fmt.Fprintf(&g.said, "$ talosgen %s\n%s", strings.Join(args, " "), out.String())
	return code, out.String()
}

// must runs a command that has to succeed.
func (g *generated) must(args ...string) error {
	if code, said := g.run(args...); code != 0 {
		return fmt.Errorf("talosgen %s: exit code %d\n%s", strings.Join(args, " "), code, said)
	}
	return nil
}

// sound is nil if nothing that was printed is secret, hides what is no secret, or
// names a command that does not exist.
func (g *generated) sound() error {
	f := &fixture{secrets: g.secrets}
	if f.leaks(g.said.String()) {
		return fmt.Errorf("there is a secret in\n%s", &g.said)
	}
	app := newCLI(&app{})
	for line := range strings.Lines(g.said.String()) {
		if strings.HasPrefix(line, "$ ") {
			continue
		}
		for _, args := range (docLine{text: strings.TrimSpace(line)}).calls() {
			if err := checkCall(app, args); err != nil {
				return fmt.Errorf("%q: %w", line, err)
			}
		}
	}
	return g.readable()
}

// hiddenPart is a mask in the middle of something, such as a name.
var hiddenPart = regexp.MustCompile(`[-a-z0-9/.]` + regexp.QuoteMeta(secret.Mask) + `|` + regexp.QuoteMeta(secret.Mask) + `[-a-z0-9/.]`)

// readable is nil if what is printed hides no part of what is in Git: what is
// secret is hidden as a whole, as the value of something.
func (g *generated) readable() error {
	for line := range strings.Lines(g.said.String()) {
		if hiddenPart.MatchString(line) {
			return fmt.Errorf("something is hidden in %q of\n%s", line, &g.said)
		}
	}
	return nil
}

// TestGeneratedRender renders generated repositories: twice, and elsewhere, gives
// the same bytes; what needs no key agrees; nothing secret is printed.
func TestGeneratedRender(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	t.Parallel()
	each(t, seeds(100, 2000, 20000, environments), 2, 60, renderTwice)
}

func renderTwice(dir string, o generate.Options) error {
	g, err := layOut(dir, o)
	if err != nil {
		return as("sources", err)
	}
	if err := g.must("render", "--all"); err != nil {
		return as("render", err)
	}
	first, err := readFiles(filepath.Join(dir, "rendered"))
	if err != nil {
		return err
	}
	for _, e := range g.Environments {
		if err := as("check", g.must("render", "--check", e.Name)); err != nil {
			return err
		}
	}
	if err := as("keyless", g.must("render", "--keyless", "--all")); err != nil {
		return err
	}
	// Elsewhere, from nothing.
	elsewhere := &generated{Repository: g.Repository, dir: filepath.Join(dir, "elsewhere", "ü b"), random: g.random, secrets: g.secrets}
	sources, err := readFiles(dir)
	if err != nil {
		return err
	}
	maps.DeleteFunc(sources, func(name, _ string) bool { return strings.HasPrefix(name, "rendered/") })
	if err := sources.writeMissing(elsewhere.dir); err != nil {
		return err
	}
	if err := elsewhere.must("render", "--all"); err != nil {
		return as("render elsewhere", err)
	}
	second, err := readFiles(filepath.Join(elsewhere.dir, "rendered"))
	if err != nil {
		return err
	}
	if d := first.diff(second); d != "" {
		return as("same bytes", errors.New(d))
	}
	return as("output", errors.Join(g.sound(), elsewhere.sound()))
}
