package machine

import (
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/yamltext"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// testTime is when the certificates of test bundles begin.
var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// contracts are the version contracts that talosgen promises to make.
var contracts = []string{"v1.9", "v1.10", "v1.11", "v1.12", "v1.13", "v1.14"}

// kubernetesOf returns a Kubernetes version that a contract accepts.
func kubernetesOf(contract string) string {
	if contract == "v1.14" {
		return "1.36.0"
	}
	return "1.31.1"
}

var testBundles = sync.OnceValues(func() (pair [2]*Bundle, err error) {
	for i := range pair {
		if pair[i], err = PlaceholderBundle("v1.13", testTime); err != nil {
			return pair, err
		}
	}
	return pair, nil
})

// bundles returns the bundle that tests make configurations from, and another.
func bundles(t testing.TB) (*Bundle, *Bundle) {
	t.Helper()
	pair, err := testBundles()
	if err != nil {
		t.Fatal(err)
	}
	return pair[0], pair[1]
}

func testSettings(contract string) Settings {
	return Settings{
		ClusterName:       "test",
		Endpoint:          "https://10.0.0.1:6443",
		Contract:          contract,
		KubernetesVersion: kubernetesOf(contract),
		InstallDisk:       "/dev/sda",
		InstallImage:      "factory.example.org/metal-installer/0000:v1.13.0",
	}
}

// testBase generates a base configuration.
func testBase(t testing.TB, contract string, role Role) *Config {
	t.Helper()
	bundle, other := bundles(t)
	cfg, err := Generate(testSettings(contract), role, bundle, other)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// unindent takes the indentation of the first line off all lines, so that
// documents can stand in Go code.
func unindent(text string) string {
	text = strings.TrimPrefix(text, "\n")
	indent := text[:len(text)-len(strings.TrimLeft(text, "\t "))]
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.ReplaceAll(strings.TrimPrefix(lines[i], indent), "\t", "  ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), " \n") + "\n"
}

func testScope(vars map[string]string, secret ...string) *subst.Scope {
	s := &subst.Scope{Vars: subst.Vars{}}
	for name, value := range vars {
		s.Vars[name] = subst.Var{Value: value}
	}
	for _, name := range secret {
		v := s.Vars[name]
		v.Secret = true
		s.Vars[name] = v
	}
	return s
}

// loadText loads a patch that stands in Go code, see [unindent].
func loadText(file, text string, o LoadOptions) (*Patch, error) {
	return LoadPatch(Source{File: file, Layer: "layer " + file, Data: []byte(unindent(text))}, o)
}

func mustLoad(t testing.TB, file, text string) *Patch {
	t.Helper()
	p, err := loadText(file, text, LoadOptions{})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return p
}

// loadAll loads patches named 1.yaml, 2.yaml...
func loadAll(texts []string, o LoadOptions) ([]*Patch, error) {
	var patches []*Patch
	for i, text := range texts {
		p, err := loadText(fmt.Sprintf("%d.yaml", i+1), text, o)
		if err != nil {
			return nil, err
		}
		patches = append(patches, p)
	}
	return patches, nil
}

// applyTexts loads patches and applies them.
func applyTexts(base *Config, texts ...string) (*Config, diag.List, error) {
	patches, err := loadAll(texts, LoadOptions{})
	if err != nil {
		return nil, nil, err
	}
	return base.Apply(patches)
}

func mustApply(t testing.TB, base *Config, texts ...string) *Config {
	t.Helper()
	cfg, _, err := applyTexts(base, texts...)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// textOf prints a whole configuration.
func textOf(t testing.TB, cfg *Config) string {
	t.Helper()
	var b strings.Builder
	for _, d := range cfg.Documents() {
		text, err := d.Text()
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("---\n")
		b.Write(text)
	}
	return b.String()
}

// valueOf returns what stands at a path of a document: a string for a scalar,
// nil for nothing. The path is split at dots, with [n] for items.
func valueOf(t testing.TB, cfg *Config, id ID, path string) any {
	t.Helper()
	doc := cfg.Document(id)
	if doc == nil {
		return nil
	}
	text, err := doc.Text()
	if err != nil {
		t.Fatal(err)
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	n := root.Content[0]
	for _, key := range strings.Split(path, ".") {
		if path == "" {
			break
		}
		if n = valueAt(n, key); n == nil {
			return nil
		}
	}
	var v any
	if err := n.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// leafOf finds a leaf by its printed path.
func leafOf(t testing.TB, cfg *Config, id ID, path string) (leaf yamltext.Leaf, secret, found bool) {
	t.Helper()
	doc := cfg.Document(id)
	if doc == nil {
		return leaf, false, false
	}
	leaves, err := doc.Leaves()
	if err != nil {
		t.Fatal(err)
	}
	secrets, err := cfg.Secret(doc)
	if err != nil {
		t.Fatal(err)
	}
	for i := range leaves {
		if leaves[i].Path.String() == path {
			return leaves[i], secrets[i], true
		}
	}
	return leaf, false, false
}

// everyKind yields an empty document of each kind that Talos has, the one
// without a kind included.
func everyKind(t testing.TB) iter.Seq2[ID, config.Document] {
	return func(yield func(ID, config.Document) bool) {
		t.Helper()
		for _, k := range append(registeredKinds(t), mainKind) {
			id := kind(k)
			if k == mainKind {
				id = MainID
			}
			doc, err := newTyped(id)
			if err != nil {
				t.Fatal(err)
			}
			if !yield(id, doc) {
				return
			}
		}
	}
}

// knownLeaf is a value of a configuration, and whether it is known as secret.
type knownLeaf struct {
	yamltext.Leaf
	document ID
	secret   bool
}

// everyLeaf lists the values of a configuration.
func everyLeaf(t testing.TB, cfg *Config) []knownLeaf {
	t.Helper()
	var all []knownLeaf
	for _, d := range cfg.Documents() {
		leaves, err := d.Leaves()
		if err != nil {
			t.Fatal(err)
		}
		secrets, err := cfg.Secret(d)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range leaves {
			all = append(all, knownLeaf{l, d.ID, secrets[i]})
		}
	}
	return all
}
