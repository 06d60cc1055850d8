package sopsage

import (
	"strings"
	"testing"
)

// manifestFile encrypts a Secret in the way of a rendered tree.
func manifestFile(t *testing.T, key *DataKey, name string) string {
	t.Helper()
	f := key.Manifest(name)
	encrypt := func(path ...string) string {
		if !InManifest(path) {
			t.Fatalf("%v is not encrypted", path)
		}
		enc, err := f.Encrypt(path, "c2VjcmV0", Str)
		if err != nil {
			t.Fatal(err)
		}
		return enc
	}
	return "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  token: " + encrypt("data", "token") +
		"\nstringData:\n  x: " + encrypt("stringData", "x") + "\ntype: Opaque\n" + string(f.Block())
}

const manifestPlain = "apiVersion: v1\nkind: Secret\nmetadata:\n    name: a\ndata:\n    token: c2VjcmV0\nstringData:\n    x: c2VjcmV0\ntype: Opaque\n"

// SOPS' own library decrypts a Secret, and the reader of rendered files does.
func TestManifest(t *testing.T) {
	_, key, private := testKeyring(t)
	text := manifestFile(t, key, "addons/a/secret-a.yaml")
	if again := manifestFile(t, key, "addons/a/secret-a.yaml"); again != text {
		t.Error("the same input gives other bytes")
	}
	if plain, err := sopsDecrypt(text, key.key); err != nil || plain != manifestPlain {
		t.Errorf("sops: %v\n%s", err, plain)
	}
	if plain, err := keysOf(private).DecryptYAML(t.Context(), "a.yaml", []byte(text)); err != nil || string(plain) != manifestPlain {
		t.Errorf("%v\n%s", err, plain)
	}
	if strings.Contains(text, "encrypted_comment_regex") || !strings.Contains(text, "    encrypted_regex: ^(data|stringData)$\n") {
		t.Errorf("the rule of the block:\n%s", text)
	}
	block, err := ParseBlock("a.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	found, err := keysOf(private).BlockKey(t.Context(), "a.yaml", block)
	if err != nil {
		t.Fatal(err)
	}
	reader := found.Open("a.yaml")
	for _, path := range [][]string{{"data", "token"}, {"stringData", "x"}} {
		_, enc, _ := strings.Cut(text, path[1]+": ")
		enc, _, _ = strings.Cut(enc, "\n")
		if value, _, err := reader.Decrypt(path, enc); err != nil || value != "c2VjcmV0" {
			t.Errorf("%v: %q, %v", path, value, err)
		}
	}
	if err := reader.VerifyMAC(block); err != nil {
		t.Error(err)
	}
}

// Another rule than the two that render writes is refused.
func TestManifestRules(t *testing.T) {
	_, key, private := testKeyring(t)
	text := manifestFile(t, key, "a.yaml")
	for _, rule := range []string{"encrypted_regex: ^data$", "encrypted_regex: ^(data|stringData)$\n    encrypted_comment_regex: ^ secret$", "encrypted_suffix: x"} {
		changed := strings.Replace(text, "encrypted_regex: ^(data|stringData)$", rule, 1)
		block, err := ParseBlock("a.yaml", []byte(changed))
		if err == nil {
			found, second := keysOf(private).BlockKey(t.Context(), "a.yaml", block)
			if err = second; err == nil {
				err = found.Open("a.yaml").VerifyMAC(block)
			}
		}
		wantError(t, err, "sops block")
	}
}

func TestInManifest(t *testing.T) {
	for path, want := range map[string]bool{
		"data.a": true, "stringData.a": true, "metadata.labels.data": true, "metadata.name": false, "database.a": false, "type": false,
	} {
		if InManifest(strings.Split(path, ".")) != want {
			t.Errorf("%s: %t", path, !want)
		}
	}
}
