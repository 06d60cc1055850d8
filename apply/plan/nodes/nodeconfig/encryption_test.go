package nodeconfig

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/rotation"
)

// storing is a configuration with providers for resources.
func storing(t *testing.T, resources string, providers ...string) *Config {
	t.Helper()
	c, err := Parse("node", []byte("version: v1alpha1\nmachine: {type: controlplane}\n---\napiVersion: v1alpha1\nkind: KubeEtcdEncryptionConfig\nconfig:\n    resources:\n        - resources: ["+resources+"]\n          providers:\n            - "+
		strings.Join(providers, "\n            - ")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEncryptionClasses: what is stored is read after a change as it was before, or the
// change is refused.
func TestEncryptionClasses(t *testing.T) {
	box := func(names ...string) string {
		var keys []string
		for _, n := range names {
			keys = append(keys, "{name: "+n+", secret: secret-"+n+"}")
		}
		return "secretbox: {keys: [" + strings.Join(keys, ", ") + "]}"
	}
	const cbc, identity, kms = "aescbc: {keys: [{name: k1, secret: secret-k1}]}", "identity: {}", "kms: {apiVersion: v2, name: a, endpoint: unix:///a}"
	for _, tt := range []struct {
		name       string
		has, wants *Config
		class      Class
	}{
		{"another key is read", storing(t, "secrets", box("a")), storing(t, "secrets", box("a", "b")), Restart},
		{"it encrypts", storing(t, "secrets", box("a", "b")), storing(t, "secrets", box("b", "a")), Restart},
		{"it encrypts at once", storing(t, "secrets", box("a")), storing(t, "secrets", box("b", "a")), Refused},
		{"it replaces", storing(t, "secrets", box("a")), storing(t, "secrets", box("b")), Refused},
		{"with the same name", storing(t, "secrets", box("a")), storing(t, "secrets", strings.Replace(box("a"), "secret-a", "secret-b", 1)), Refused},
		{"with another name", storing(t, "secrets", box("a")), storing(t, "secrets", strings.Replace(box("a"), "name: a", "name: b", 1)), Refused},
		{"one goes", storing(t, "secrets", box("a", "b")), storing(t, "secrets", box("a")), Restart},
		{"another provider encrypts", storing(t, "secrets", cbc, box("a"), identity), storing(t, "secrets", box("a"), cbc, identity), Restart},
		{"another provider goes", storing(t, "secrets", box("a"), cbc, identity), storing(t, "secrets", box("a"), identity), Restart},
		{"what is not encrypted is not read any more", storing(t, "secrets", box("a"), identity), storing(t, "secrets", box("a")), Restart},
		{"nothing is encrypted", storing(t, "secrets", box("a")), storing(t, "secrets", identity, box("a")), Refused},
		{"an unknown provider goes", storing(t, "secrets", kms, box("a")), storing(t, "secrets", box("a")), Refused},
		{"other resources besides", storing(t, "secrets", box("a")), storing(t, "secrets, configmaps", box("a")), Refused},
		{"one that other resources may be stored with goes", storing(t, "secrets, configmaps", box("a", "b")), storing(t, "secrets, configmaps", box("a")), Refused},
		{"another key is read, of more resources", storing(t, "secrets, configmaps", box("a")), storing(t, "secrets, configmaps", box("a", "b")), Restart},
		{"other resources, and other keys", storing(t, "secrets", box("a", "b")), storing(t, "secrets, configmaps", box("b", "a")), Refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Compare(tt.has, tt.wants, Running{})
			if err != nil || d.Class() != tt.class {
				t.Errorf("%v, %v", d.Changes, err)
			}
			if text := fmt.Sprint(d.Changes); strings.Contains(text, "secret-") {
				t.Errorf("a secret is told: %s", text)
			}
		})
	}
	if trust := storing(t, "secrets", kms).Trust(rotation.EncryptionKey); trust.Issues != "" {
		t.Errorf("of a provider that is not known: %v", trust)
	}
}
