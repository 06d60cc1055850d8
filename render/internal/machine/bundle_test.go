package machine

import (
	"bytes"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

func bundleText(t testing.TB, b *Bundle) []byte {
	t.Helper()
	text, err := b.YAML()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestBundleRoundTrip(t *testing.T) {
	bundle, other := bundles(t)
	text := bundleText(t, bundle)
	again, err := ParseBundle(text)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bundleText(t, again), text) {
		t.Error("a bundle that was read back is another")
	}
	if bytes.Equal(bundleText(t, other), text) {
		t.Error("two bundles are the same")
	}
	if len(again.Values()) != len(bundle.Values()) || len(again.Values()) < 20 {
		t.Errorf("%d values, before %d", len(again.Values()), len(bundle.Values()))
	}
}

func TestNewBundle(t *testing.T) {
	b, err := NewBundle("v1.13", testTime)
	if err != nil {
		t.Fatal(err)
	}
	if text := bundleText(t, b); !bytes.Contains(text, []byte("k8sserviceaccount")) {
		t.Error("the bundle has no service account key")
	}
	if _, err := NewBundle("nonsense", testTime); err == nil {
		t.Error("a contract that is none is accepted")
	}
	if _, err := PlaceholderBundle("nonsense", testTime); err == nil {
		t.Error("a contract that is none is accepted")
	}
}

// TestBundleFromConfig: the configuration of a control plane gives back the
// bundle that it was made from, under every contract.
func TestBundleFromConfig(t *testing.T) {
	bundle, _ := bundles(t)
	for _, contract := range contracts {
		imported, err := BundleFromConfig([]byte(textOf(t, testBase(t, contract, ControlPlane))))
		if err != nil {
			t.Errorf("%s: %v", contract, err)
			continue
		}
		if want, have := string(bundleText(t, bundle)), string(bundleText(t, imported)); have != want {
			t.Errorf("%s: the bundles differ:\n%s\n%s", contract, keysOnly(want), keysOnly(have))
		}
		if _, err := BundleFromConfig([]byte(textOf(t, testBase(t, contract, Worker)))); err == nil || !strings.Contains(err.Error(), "control plane") {
			t.Errorf("%s: of a worker: %v", contract, err)
		}
	}
}

func TestBundleFromPartOfAConfig(t *testing.T) {
	for _, text := range []string{
		"version: v1alpha1\nmachine: {type: controlplane}\n",
		"version: v1alpha1\nmachine: {type: controlplane}\ncluster: {}\n",
		"version: v1alpha1\nmachine: {type: controlplane, token: x}\ncluster: {controlPlane: {endpoint: https://a}}\n",
		"version: v1alpha1\ncluster: {}\n",
		"apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: x\nauto: off\n",
		textOf(t, mustApply(t, testBase(t, "v1.13", ControlPlane), "cluster: {ca: !delete }")),
		textOf(t, mustApply(t, testBase(t, "v1.13", ControlPlane), "cluster: {token: !delete }")),
		textOf(t, mustApply(t, testBase(t, "v1.13", ControlPlane), "machine: {token: !delete }")),
		textOf(t, mustApply(t, testBase(t, "v1.13", ControlPlane), "cluster: {secretboxEncryptionSecret: !delete }")),
		textOf(t, mustApply(t, testBase(t, "v1.14", ControlPlane), "cluster: {token: !delete }")),
		textOf(t, mustApply(t, testBase(t, "v1.14", ControlPlane), "--- !delete\napiVersion: v1alpha1\nkind: KubeServiceAccountConfig\n")),
	} {
		if _, err := BundleFromConfig([]byte(text)); err == nil {
			t.Errorf("accepted: %s", keysOnly(text))
		}
	}
}

// keysOnly shortens values, for messages.
func keysOnly(text string) string {
	var b strings.Builder
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 50 {
			line = line[:50]
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func TestBundleErrorsHoldNoValues(t *testing.T) {
	const marker = "marker-value"
	bundle, _ := bundles(t)
	texts := map[string]string{
		"not YAML":    "cluster: {id: " + marker,
		"a list":      "- " + marker,
		"a text":      marker,
		"wrong types": "cluster: [" + marker + "]",
		"unknown key": marker + ": x\n" + string(bundleText(t, bundle)),
		"bad base64":  strings.Replace(string(bundleText(t, bundle)), "crt: ", "crt: "+marker, 1),
		"empty":       "",
	}
	// Each value of the bundle, left out.
	var all map[string]any
	if err := yaml.Unmarshal(bundleText(t, bundle), &all); err != nil {
		t.Fatal(err)
	}
	for name, text := range without(t, all, all, "") {
		texts["without "+name] = text
	}
	if len(texts) < 20 {
		t.Errorf("only %d texts", len(texts))
	}
	for name, text := range texts {
		_, err := ParseBundle([]byte(text))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if strings.Contains(err.Error(), marker) {
			t.Errorf("%s: the error holds the value: %v", name, err)
		}
		for _, v := range bundle.Values() {
			if len(v.Reveal()) > 4 && strings.Contains(err.Error(), v.Reveal()) {
				t.Errorf("%s: the error holds a value of the bundle", name)
			}
		}
		if _, err := BundleFromConfig([]byte(text)); err == nil || strings.Contains(err.Error(), marker) {
			t.Errorf("%s as a configuration: %v", name, err)
		}
	}
}

// without returns the bundle's text without each of its values in turn.
func without(t *testing.T, root, at map[string]any, path string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, key := range sortedKeys(at) {
		value := at[key]
		if inner, ok := value.(map[string]any); ok {
			for name, text := range without(t, root, inner, path+key+".") {
				texts[name] = text
			}
		}
		delete(at, key)
		text, err := yaml.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		at[key] = value
		texts[path+key] = string(text)
	}
	return texts
}

// TestAESCBC: a bundle from before Talos 1.3 has an AES-CBC key. The library
// gets it wrong at contract 1.14, so talosgen refuses.
func TestAESCBC(t *testing.T) {
	bundle, other := bundles(t)
	text := strings.Replace(string(bundleText(t, bundle)), "secretboxencryptionsecret:", "aescbcencryptionsecret:", 1)
	old, err := ParseBundle([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Generate(testSettings("v1.14"), ControlPlane, old, other)
	if err == nil || diag.CodeOf(err) != diag.Secrets || !strings.Contains(err.Error(), "AES-CBC") || !strings.Contains(err.Error(), "configContract") {
		t.Errorf("1.14: %v", err)
	}
	cfg, err := Generate(testSettings("v1.13"), ControlPlane, old, other)
	if err != nil {
		t.Fatal(err)
	}
	if _, secret, found := leafOf(t, cfg, MainID, "cluster.aescbcEncryptionSecret"); !found || !secret {
		t.Errorf("1.13: found %v, secret %v", found, secret)
	}
	for _, contract := range []string{"v1.9", "v1.13"} {
		base, err := Generate(testSettings(contract), ControlPlane, old, other)
		if err != nil {
			t.Fatal(err)
		}
		imported, err := BundleFromConfig([]byte(textOf(t, base)))
		if err != nil || !bytes.Equal(bundleText(t, imported), bundleText(t, old)) {
			t.Errorf("%s: imported bundle differs (%v)", contract, err)
		}
	}
}
