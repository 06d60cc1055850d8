package access

import (
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"regexp"
	"testing"
)

// authorityOf is the field of both files with the certificates that a client trusts.
var authorityOf = regexp.MustCompile(`\b(?:ca|certificate-authority-data): (\S+)`)

// TestFilesTrustBoth: files that are written in a rotation trust both authorities, and are
// good for each of its phases.
func TestFilesTrustBoth(t *testing.T) {
	talos, kubernetes, other, more := newPair(t, "ed25519"), newPair(t, "ecdsa"), newPair(t, "ed25519"), newPair(t, "ecdsa")
	all, err := Read("nodes/a.yaml", fmt.Appendf(nil, "machine:\n  ca: {crt: %s, key: %s}\n  acceptedCAs: [{crt: %s}]\ncluster:\n  ca: {crt: %s, key: %s}\n  acceptedCAs: [{crt: %s}]\n",
		talos.Crt, talos.Key, other.Crt, kubernetes.Crt, kubernetes.Key, more.Crt))
	if err != nil {
		t.Fatal(err)
	}
	talosconfig, err := all.Talos.Talosconfig(request(""), "os:admin", []string{"10.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := all.Kubernetes.Kubeconfig(request(""), Server{URL: "https://10.0.0.1:6443"}, kubernetesAdmin)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		file *File
		want []pair
	}{
		{"talosconfig", talosconfig, []pair{talos, other}},
		{"kubeconfig", kubeconfig, []pair{kubernetes, more}},
	} {
		roots := x509.NewCertPool()
		field := authorityOf.FindStringSubmatch(tt.file.Content.Reveal())
		if field == nil {
			t.Fatalf("%s has no authority", tt.name)
		}
		text, err := base64.StdEncoding.DecodeString(field[1])
		if err != nil {
			t.Fatal(err)
		}
		roots.AppendCertsFromPEM(text)
		want := x509.NewCertPool()
		for _, p := range tt.want {
			want.AppendCertsFromPEM(decode64(p.Crt))
		}
		if !roots.Equal(want) {
			t.Errorf("%s trusts something else", tt.name)
		}
	}
}
