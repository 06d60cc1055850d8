package apply

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/schemas"
)

func TestHostKey(t *testing.T) {
	o := newOperators(t, 1)
	for name, tt := range map[string]struct {
		file string // empty: none
		want string
		err  string
	}{
		"there":    {o.encrypted(t, schemas.HostKeyFile, "apiVersion: talosgen.dev/v1alpha1\ncluster: demo\npublicKey: ssh-ed25519 AAAA\n", schemas.HostKeySecret, canaryToken), canaryToken, ""},
		"no file":  {"", "", "rendered/demo/ssh-host-key.yaml: is not in the rendered tree"},
		"no key":   {"cluster: demo\n", "", "rendered/demo/ssh-host-key.yaml: holds no private key"},
		"not YAML": {"privateKey: [" + canaryToken + "\n", "", "rendered/demo/ssh-host-key.yaml: holds no private key"},
	} {
		files := o.small(t)
		if tt.file != "" {
			files[schemas.HostKeyFile] = tt.file
		}
		e, err := o.open(t, o.sealed(t, files))
		if err != nil {
			t.Fatal(err)
		}
		key, err := e.hostKey("demo-nat-gateway")
		if key.Reveal() != tt.want || tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: key %q, error %v", name, key.Reveal(), err)
		}
		if err != nil && strings.Contains(err.Error(), canaryToken) {
			t.Errorf("%s: the error holds the key", name)
		}
		if tt.want != "" && strings.Contains(e.masker.String("it is "+canaryToken), canaryToken) {
			t.Errorf("%s: the masker does not know it", name)
		}
	}
}
