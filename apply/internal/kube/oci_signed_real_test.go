package kube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// sign signs the artifact as `cosign sign --key` does without a log of signatures: what is
// signed names its digest, and the signature is in an artifact of its own beside it.
func (r *ociRegistry) sign(t testing.TB, reference string, key *ecdsa.PrivateKey) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	payload := fmt.Appendf(nil, `{"critical":{"identity":{"docker-reference":%q},"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"},"optional":null}`,
		reference, r.manifest)
	hash := sha256.Sum256(payload)
	signature, err := ecdsa.SignASN1(rand.Reader, key, hash[:])
	if err != nil {
		t.Fatal(err)
	}
	config := []byte(`{"architecture":"","os":"","config":{},"rootfs":{"type":"layers","diff_ids":[` + fmt.Sprintf("%q", digestOf(payload)) + `]}}`)
	manifest := fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",`+
		`"config":{"mediaType":"application/vnd.oci.image.config.v1+json","size":%d,"digest":%q},`+
		`"layers":[{"mediaType":"application/vnd.dev.cosign.simplesigning.v1+json","size":%d,"digest":%q,"annotations":{"dev.cosignproject.cosign/signature":%q}}]}`,
		len(config), digestOf(config), len(payload), digestOf(payload), base64.StdEncoding.EncodeToString(signature))
	r.signature = digestOf(manifest)
	for _, content := range [][]byte{payload, config, manifest} {
		r.contents[digestOf(content)] = content
	}
}

// newSigner makes a key pair, as `cosign generate-key-pair` does, and the public half in
// PEM.
func newSigner(t testing.TB) (*ecdsa.PrivateKey, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// verified is a tree whose artifact has to be signed with one of the keys in a Secret, as
// render writes both.
func verified(f tree, keys ...string) tree {
	secret := "{apiVersion: v1, kind: Secret, metadata: {name: talosgen-oci-signers, namespace: " + kubeenv.FluxNamespace + "}, data: {"
	for i, key := range keys {
		secret += fmt.Sprintf("signer-%d.pub: %s, ", i+1, base64.StdEncoding.EncodeToString([]byte(key)))
	}
	f["flux/manifests.yaml"] = strings.Replace(f["flux/manifests.yaml"], "ref: {tag: latest}, ", "ref: {tag: latest}, verify: {provider: cosign, secretRef: {name: talosgen-oci-signers}}, ", 1)
	f["flux/secret-talosgen-oci-signers.yaml"] = secret + "}}"
	f["flux/kustomization.yaml"] = strings.Replace(f["flux/kustomization.yaml"], "[manifests.yaml]", "[manifests.yaml, secret-talosgen-oci-signers.yaml]", 1)
	return f
}

// TestSignedArtifact: real Flux runs an artifact that one of the keys has signed, and no
// other one: what is pushed without a signature, or with somebody else's, does not run,
// and what ran goes on.
func TestSignedArtifact(t *testing.T) {
	t.Parallel()
	c := kubeenv.Start(t, kubeenv.WithFlux(), kubeenv.Own())
	registry := &ociRegistry{}
	server := httptest.NewServer(registry)
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	key, public := newSigner(t)
	_, other := newSigner(t)
	stranger, _ := newSigner(t)
	push := func(value, digit string, by *ecdsa.PrivateKey) tree {
		f := verified(ociTree(host, value), other, public)
		registry.push(t, f.files(), strings.Repeat(digit, 40))
		if by != nil {
			registry.sign(t, host+"/clusters", by)
		}
		return f
	}
	r := newRun(t, c)
	r.waits.Stage = within
	r.apply(push("one", "1", key), plan.Consent{})

	source := c.Path(t, "{apiVersion: source.toolkit.fluxcd.io/v1, kind: OCIRepository, metadata: {name: oci, namespace: "+kubeenv.FluxNamespace+"}}")
	web := "/api/v1/namespaces/default/configmaps/of-artifact"
	c.WaitFor(t, web, func(o kubeenv.Object) bool { return o.Text("data", "x") == "one" }, within)
	look := func(at string) {
		t.Helper()
		c.Patch(t, source, kubeenv.MergePatch, map[string]any{"metadata": map[string]any{"annotations": map[string]any{"reconcile.fluxcd.io/requestedAt": at}}})
	}
	for name, by := range map[string]*ecdsa.PrivateKey{"unsigned": nil, "a stranger's": stranger} {
		push("evil", "2", by)
		look(name)
		c.WaitFor(t, source, func(o kubeenv.Object) bool {
			status, message := o.Condition("SourceVerified")
			return status == "False" && o.Text("status", "lastHandledReconcileAt") == name && strings.Contains(message, "cosign")
		}, within)
		if live := c.Get(t, web); live.Text("data", "x") != "one" {
			t.Errorf("%s runs: %v", name, live)
		}
	}
	push("two", "3", key)
	look("signed again")
	c.WaitFor(t, source, kubeenv.Ready, within)
	c.WaitFor(t, web, func(o kubeenv.Object) bool { return o.Text("data", "x") == "two" }, within)
}
