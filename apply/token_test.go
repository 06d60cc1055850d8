package apply

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

func TestToken(t *testing.T) {
	o := newOperators(t, 1)
	const name = "bootstrap/hcloud-ccm/secret.yaml"
	head := "apiVersion: v1\nkind: Secret\nmetadata:\n    name: hcloud\n"
	readable := func(text string) string { return text }
	for what, tt := range map[string]struct {
		file string
		want string
		err  bool
	}{
		"as text":       {readable(head + "stringData:\n    token: " + canaryToken + "\n"), canaryToken, false},
		"in base64":     {readable(head + "data:\n    token: " + base64.StdEncoding.EncodeToString([]byte(canaryToken)) + "\n"), canaryToken, false},
		"not the first": {readable("kind: ConfigMap\n---\n" + head + "stringData:\n    token: " + canaryToken + "\n"), canaryToken, false},
		"another name":  {readable(strings.Replace(head, "hcloud", "other", 1) + "stringData:\n    token: x\n"), "", false},
		"no Secret":     {readable("kind: ConfigMap\nmetadata: {name: hcloud}\n"), "", false},
		"not base64":    {readable(head + "data:\n    token: " + canaryToken + "!\n"), "", true},
		"not YAML":      {readable(head + "x: [" + canaryToken + "\n"), "", true},
	} {
		files := o.small(t)
		files[name] = tt.file
		e, err := o.open(t, o.sealed(t, files))
		if err != nil {
			t.Fatal(err)
		}
		token, err := e.Token(t.Context())
		if token.Reveal() != tt.want || (err != nil) != tt.err {
			t.Errorf("%s: token %q (%v)", what, token.Reveal(), err)
		}
		if err != nil && (strings.Contains(err.Error(), canaryToken) || diag.CodeOf(err) != diag.Secrets) {
			t.Errorf("%s: error %v", what, err)
		}
		if said := e.masker.String("it is " + canaryToken); tt.want != "" && strings.Contains(said, canaryToken) {
			t.Errorf("%s: the masker does not know it: %s", what, said)
		}
		if strings.Contains(fmt.Sprintf("%v %+v", token, token), canaryToken) {
			t.Errorf("%s: it prints itself", what)
		}
	}
}

// TestTokenEncrypted decrypts what a render has encrypted.
func TestTokenEncrypted(t *testing.T) {
	o := newOperators(t, 1)
	const name = "bootstrap/hcloud-ccm/secret.yaml"
	f := o.dataKey.File(name)
	text, err := f.Encrypt([]string{"stringData", "token"}, canaryToken, "str")
	if err != nil {
		t.Fatal(err)
	}
	files := o.small(t)
	files[name] = "apiVersion: v1\nkind: Secret\nmetadata:\n    name: hcloud\nstringData:\n    token: " + text + " # secret\n" + string(f.Block())
	e, err := o.open(t, o.sealed(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if token, err := e.Token(t.Context()); err != nil || token.Reveal() != canaryToken {
		t.Errorf("token %q (%v)", token.Reveal(), err)
	}
}
