package render_test

import (
	"encoding/base64"
	"path/filepath"
	"reflect"
	"slices"
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

// TestRotationMarksAutoscaler: in a rotation of what new workers trust, the pods of the
// autoscaler are marked with it, as their Secret has it. Else they have no mark, and the
// tree after a rotation that was taken back is the one before.
func TestRotationMarksAutoscaler(t *testing.T) {
	for kind, marks := range map[rotation.Kind]bool{rotation.TalosCA: true, rotation.KubernetesCA: true, rotation.EncryptionKey: false} {
		t.Run(string(kind), func(t *testing.T) {
			r, key := addonRepo(t)
			mustWrite(t, r.open(key), "prod")
			first := r.mark(t)
			before := readTree(t, filepath.Join(r.root, "rendered/prod/bootstrap/cluster-autoscaler"))
			var seen []string
			for _, back := range []bool{false, true, false, false, false} {
				r.turn(t, key, kind, back)
				mark := r.mark(t)
				seen = append(seen, mark)
				for _, digest := range strings.Split(strings.TrimPrefix(mark, string(kind)+"="), ",") {
					if mark != "" && !r.hasCertificate(t, digest) {
						t.Errorf("no new server has the certificate of %s", digest)
					}
				}
				if back && !reflect.DeepEqual(before, readTree(t, filepath.Join(r.root, "rendered/prod/bootstrap/cluster-autoscaler"))) {
					t.Error("after it was taken back the autoscaler is another one")
				}
			}
			if !marks {
				if strings.Join(append(seen, first), "") != "" {
					t.Errorf("marked: %q", seen)
				}
				return
			}
			of := func(mark string) []string { return strings.Split(strings.TrimPrefix(mark, string(kind)+"="), ",") }
			accept, issue := of(seen[2]), of(seen[3])
			if first != "" || seen[1] != "" || seen[4] != "" || len(accept) != 2 || len(issue) != 2 || accept[0] != issue[1] || accept[1] != issue[0] || accept[0] == accept[1] {
				t.Errorf("first %q, then %q", first, seen)
			}
		})
	}
}

// mark is that of the autoscaler's pods in the tree; empty if they have none.
func (r *testRepo) mark(t *testing.T) string {
	t.Helper()
	text := readTree(t, filepath.Join(r.root, "rendered/prod/bootstrap/cluster-autoscaler"))["manifests.yaml"]
	if !strings.Contains(text, "checksum/secret") {
		t.Fatalf("no pod in\n%s", text)
	}
	_, after, _ := strings.Cut(text, rotation.MarkAnnotation+": ")
	line, _, _ := strings.Cut(after, "\n")
	return strings.Trim(line, `"`)
}

// hasCertificate reports whether all servers that the autoscaler makes have a certificate
// with a digest.
func (r *testRepo) hasCertificate(t *testing.T, digest string) bool {
	t.Helper()
	configs := autoscaledConfigs(t, r)
	for _, text := range configs {
		found := false
		decoder := yaml.NewDecoder(strings.NewReader(text))
		for {
			var doc yaml.Node
			if decoder.Decode(&doc) != nil {
				break
			}
			found = found || holdsDigest(&doc, digest)
		}
		if !found {
			return false
		}
	}
	return len(configs) > 0
}

func holdsDigest(n *yaml.Node, digest string) bool {
	return n.Kind == yaml.ScalarNode && rotation.DigestOf(n.Value) == digest ||
		slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return holdsDigest(c, digest) })
}
