package secretsfile

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
)

func TestReplaceToken(t *testing.T) {
	const text = "# ours\ntalos:\n    secrets:\n        bootstraptoken: old-bootstrap-token\n    trustdinfo:\n        token: old-machine-token\n"
	for _, kind := range rotation.Tokens() {
		out, before, err := ReplaceToken(file, []byte(text), kind, secret.New("new"))
		if want := strings.Replace(text, "old-"+string(kind), "new", 1); err != nil || string(out) != want || before.Reveal() != "old-"+string(kind) {
			t.Errorf("%s: %v\n%s", kind, err, out)
		}
		for config, want := range map[string]string{
			"talos: {secrets: {}, trustdinfo: {}}\n":                                                     "does not have the " + strings.Replace(string(kind), "-", " ", 1),
			text + "rotation: {kind: talos-ca, phase: accept, since: x, other: {crt: a, key: canary}}\n": "has a rotation of the authority of the Talos API under way",
		} {
			if _, _, err := ReplaceToken(file, []byte(config), kind, secret.New("new")); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
}
