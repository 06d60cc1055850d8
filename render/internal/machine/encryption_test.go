package machine

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/rotation"
)

// TestEncrypting: API servers get the keys in their order, with their names in the clear
// and their secrets marked; workers, and contracts that have one key only, none of it.
func TestEncrypting(t *testing.T) {
	bundle, other := bundles(t)
	key, err := NewEncryptionKey(rand.Reader, rotation.FirstKeyName)
	if err != nil || key.Name != "key3" {
		t.Fatal(key.Name, err)
	}
	first := bundle.bundle.Secrets.SecretboxEncryptionSecret
	for _, tt := range []struct {
		name    string
		bundle  *Bundle
		names   string
		secrets []string
	}{
		{"as ever", bundle.Encrypting("", Key{}), "key2", []string{first}},
		{"named as ever", bundle.Encrypting("key2", Key{}), "key2", []string{first}},
		{"in a rotation", bundle.Encrypting("", key), "key2 key3", []string{first, key.Secret.Reveal()}},
		{"after one", bundle.Encrypting("key7", Key{}), "key7", []string{first}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Generate(testSettings("v1.14"), ControlPlane, tt.bundle, other)
			if err != nil {
				t.Fatal(err)
			}
			_, text, _ := strings.Cut(textOf(t, c), "kind: KubeEtcdEncryptionConfig")
			text, _, _ = strings.Cut(text, "---")
			var names, secrets []string
			for line := range strings.Lines(text) {
				if _, name, is := strings.Cut(strings.TrimSpace(line), "name: "); is {
					names = append(names, name)
				}
				if _, secret, is := strings.Cut(strings.TrimSpace(line), "secret: "); is {
					secrets = append(secrets, strings.TrimSuffix(secret, " # secret"))
				}
			}
			if got := strings.Join(names, " "); got != tt.names || strings.Join(secrets, " ") != strings.Join(tt.secrets, " ") {
				t.Errorf("%s, and %d secrets:\n%s", got, len(secrets), text)
			}
			if _, problems, err := c.Validate("cloud", true); err != nil || len(problems) > 0 {
				t.Errorf("%v, %v", problems, err)
			}
			worker, err := Generate(testSettings("v1.14"), Worker, tt.bundle, other)
			if err != nil || strings.Contains(textOf(t, worker), "EtcdEncryption") {
				t.Errorf("a worker has it: %v", err)
			}
			_, err = Generate(testSettings("v1.13"), ControlPlane, tt.bundle, other)
			if asTalos := tt.names == "key2"; asTalos != (err == nil) || err != nil && !errors.Is(err, errOneEncryptionKey) {
				t.Errorf("contract 1.13: %v", err)
			}
		})
	}
}
