package legacy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/encoder"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
	"go.yaml.in/yaml/v4"
)

// runtimeMode is a validation.RuntimeMode.
type runtimeMode string

func (m runtimeMode) String() string        { return string(m) }
func (m runtimeMode) RequiresInstall() bool { return m == "metal" }
func (m runtimeMode) InContainer() bool     { return false }

var modes = []runtimeMode{"cloud", "metal"}

// bundle holds the secrets of all configurations; making it takes a second.
var bundle = sync.OnceValue(func() *secrets.Bundle {
	made, err := secrets.NewBundle(secrets.NewFixedClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), config.TalosVersion1_14)
	if err != nil {
		panic(err)
	}
	return made
})

// certificate is one that Talos takes.
func certificate() []byte { return bundle().Certs.K8s.Crt }

// bases are configurations as Talos 1.14 generates them, by role.
var bases = sync.OnceValue(func() map[machine.Type]config.Provider {
	input, err := generate.NewInput("test", "https://10.0.0.1:6443", "1.37.0",
		generate.WithVersionContract(config.TalosVersion1_14), generate.WithSecretsBundle(bundle()),
		generate.WithInstallDisk("/dev/vda"), generate.WithInstallImage("factory.talos.dev/metal-installer/x:v1.14.1"))
	if err != nil {
		panic(err)
	}
	made := map[machine.Type]config.Provider{}
	for _, role := range []machine.Type{machine.TypeControlPlane, machine.TypeWorker} {
		if made[role], err = input.Config(role); err != nil {
			panic(err)
		}
	}
	return made
})

// kindsOf lists the kinds of a configuration's documents.
func kindsOf(cfg config.Provider) []string {
	var list []string
	for _, doc := range cfg.Documents() {
		if doc.Kind() != "" {
			list = append(list, doc.Kind())
		}
	}
	return list
}

// parse reads a patch.
func parse(t testing.TB, patch string) []*yaml.Node {
	t.Helper()
	docs, err := parseAll([]byte(patch))
	if err != nil {
		t.Fatalf("%v in\n%s", err, patch)
	}
	return docs
}

func parseAll(patch []byte) ([]*yaml.Node, error) {
	var docs []*yaml.Node
	for decoder := yaml.NewDecoder(bytes.NewReader(patch)); ; {
		var doc yaml.Node
		switch err := decoder.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return nil, err
		}
		docs = append(docs, &doc)
	}
}

func encode(t testing.TB, docs []*yaml.Node) string {
	t.Helper()
	out, err := Encode(docs)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// apply patches a configuration as talosgen does: !delete and !replace delete
// what is there first.
func apply(base config.Provider, docs []*yaml.Node) (config.Provider, error) {
	cfg := base
	var err error
	for _, doc := range docs {
		root := content(doc)
		for _, path := range directives(root, nil) {
			if cfg, err = applyDelete(cfg, root, path); err != nil {
				return nil, err
			}
		}
	}
	patch, err := Encode(docs)
	if err != nil || len(patch) == 0 {
		return cfg, err // Talos takes empty text for a JSON6902 patch
	}
	return applyText(cfg, string(patch))
}

func applyText(cfg config.Provider, text string) (config.Provider, error) {
	patch, err := configpatcher.LoadPatch([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	out, err := configpatcher.Apply(configpatcher.WithConfig(cfg), []configpatcher.Patch{patch})
	if err != nil {
		return nil, err
	}
	return out.Config()
}

// directives takes !delete and !replace out of a document and returns where
// they were.
func directives(n *yaml.Node, path []string) [][]string {
	var found [][]string
	if !isMapping(n) {
		return nil
	}
	for i := 0; i+1 < len(n.Content); {
		key, value := n.Content[i], n.Content[i+1]
		here := append(slices.Clone(path), key.Value)
		switch value.Tag {
		case "!delete":
			n.Content = slices.Delete(n.Content, i, i+2)
			found = append(found, here)
			continue
		case "!replace":
			value.Tag = ""
			found = append(found, here)
		}
		found = append(found, directives(value, here)...)
		i += 2
	}
	return found
}

func applyDelete(cfg config.Provider, root *yaml.Node, path []string) (config.Provider, error) {
	value := mapping(scalar("$patch"), scalar("delete"))
	for _, step := range slices.Backward(path) {
		value = mapping(scalar(step), value)
	}
	for _, key := range []string{"name", "kind", "apiVersion"} {
		if v := text(root, key); v != "" {
			value.Content = append([]*yaml.Node{scalar(key), scalar(v)}, value.Content...)
		}
	}
	patch, err := Encode([]*yaml.Node{value})
	if err != nil {
		return nil, err
	}
	out, err := applyText(cfg, string(patch))
	if err != nil && strings.Contains(err.Error(), "lookup failed") {
		return cfg, nil
	}
	return out, err
}

// validate is Talos' own validation, strict, in both modes.
func validate(cfg config.Provider) error {
	for _, mode := range modes {
		if _, err := cfg.ValidateAsClient(mode, validation.WithStrict(), validation.WithLocal()); err != nil {
			return fmt.Errorf("%s: %w", mode, err)
		}
	}
	return nil
}

// holds checks an expectation: "Kind/name|field|field=value", "!Kind/name" for
// a document and "!Kind|field" for a field that must not be there.
func holds(t *testing.T, cfg config.Provider, want string) {
	t.Helper()
	encoded, err := cfg.EncodeBytes(encoder.WithComments(encoder.CommentsDisabled))
	if err != nil {
		t.Fatal(err)
	}
	want, absent := strings.CutPrefix(want, "!")
	where, value, _ := strings.Cut(want, "=")
	path := strings.Split(where, "|")
	got, found := "", false
	for _, doc := range parse(t, string(encoded)) {
		root := content(doc)
		id := text(root, "kind")
		if name := text(root, "name"); name != "" {
			id += "/" + name
		}
		if id != path[0] {
			continue
		}
		n := root
		for _, step := range path[1:] {
			n = child(n, step)
		}
		if found = n != nil; found {
			got = flat(n)
		}
	}
	if found == absent || !absent && !strings.Contains(got, value) {
		t.Errorf("%s: got %q (there: %v)\n%s", want, got, found, encoded)
	}
}

// child returns a field, or the last item of a list.
func child(n *yaml.Node, step string) *yaml.Node {
	if isSequence(n) && step == "-" && len(n.Content) > 0 {
		return n.Content[len(n.Content)-1]
	}
	return get(n, step)
}

// flat is a value in one line.
func flat(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	parts := make([]string, len(n.Content))
	for i, c := range n.Content {
		parts[i] = flat(c)
	}
	return strings.Join(parts, " ")
}
