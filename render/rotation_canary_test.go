package render_test

import (
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/vault"
)

// TestRotationsTellNothing takes each rotation through its phases, and back, and replaces
// each token: no key of them is in the clear in any file, nor in what is refused.
func TestRotationsTellNothing(t *testing.T) {
	for _, kind := range append(rotation.Kinds(), rotation.Tokens()...) {
		t.Run(string(kind), func(t *testing.T) {
			r, key := addonRepo(t)
			if kind == rotation.TalosCA || kind == rotation.KubernetesCA {
				without := "autoscaler: {enabled: true, nodepools: [{name: burst, max: 5, type: cpx22}]}\n"
				r.file("envs/prod/cluster.yaml", strings.Replace(addonCluster, without, "", 1))
			}
			for _, back := range []bool{false, true, false, false} {
				r.turn(t, key, kind, back)
				r.tellsNothing(t, key)
				if kind.IsToken() {
					break
				}
			}
		})
	}
}

// turn takes a rotation one phase on, or back, and renders.
func (r *testRepo) turn(t *testing.T, key string, kind rotation.Kind, back bool) {
	t.Helper()
	var err error
	if kind.IsToken() {
		_, _, err = vault.ReplaceToken(t.Context(), r.open(key), "prod", kind)
	} else {
		_, _, err = vault.Rotate(t.Context(), r.open(key), "prod", kind, back)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.open(key).Render(t.Context(), "prod", render.Options{}); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, r.open(key), "prod")
	// Another one beside it is refused, with words.
	if !kind.IsToken() {
		if _, _, err := vault.ReplaceToken(t.Context(), r.open(key), "prod", rotation.MachineToken); err != nil {
			r.holds(t, "the refusal", err.Error(), r.keys(t, key))
			if diag.CodeOf(err) != diag.Conflict {
				t.Error(err)
			}
		}
	}
}

// keys are all private keys, secrets and tokens in secrets.sops.yaml.
func (r *testRepo) keys(t *testing.T, key string) (all []string) {
	t.Helper()
	_, err := vault.Edit(t.Context(), r.open(key), "prod", func(plain []byte) ([]byte, error) {
		var doc yaml.Node
		if err := yaml.Unmarshal(plain, &doc); err != nil {
			return nil, err
		}
		var walk func(name string, n *yaml.Node)
		walk = func(name string, n *yaml.Node) {
			if n.Kind == yaml.ScalarNode && len(n.Value) >= 20 && name != "crt" {
				all = append(all, n.Value)
			}
			for i, c := range n.Content {
				if n.Kind == yaml.MappingNode && i%2 == 1 {
					walk(n.Content[i-1].Value, c)
				} else if n.Kind != yaml.MappingNode {
					walk(name, c)
				}
			}
		}
		walk("", &doc)
		return plain, nil
	})
	if err != nil || len(all) < 8 {
		t.Fatalf("%d secrets, %v", len(all), err)
	}
	return all
}

func (r *testRepo) tellsNothing(t *testing.T, key string) {
	t.Helper()
	keys := r.keys(t, key)
	for _, dir := range []string{"envs/prod", "rendered/prod"} {
		for name, text := range readTree(t, filepath.Join(r.root, dir)) {
			r.holds(t, dir+"/"+name, text, keys)
		}
	}
}

// holds fails if a text has a secret in it, as it is or in base64, or decoded.
func (r *testRepo) holds(t *testing.T, what, text string, secrets []string) {
	t.Helper()
	for _, s := range secrets {
		forms := []string{s, base64.StdEncoding.EncodeToString([]byte(s))}
		if plain, err := base64.StdEncoding.DecodeString(s); err == nil {
			forms = append(forms, strings.TrimSpace(string(plain)))
		}
		for _, form := range forms {
			if strings.Contains(text, form) {
				t.Errorf("%s has a secret in the clear", what)
			}
		}
	}
}
