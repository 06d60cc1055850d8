package catalogue_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// Each secret that an addon needs is asked for by name, once it is missing.
func TestMissingSecretsAreNamed(t *testing.T) {
	asked := 0
	for _, c := range cases(t) {
		f, problems := c.facts(t)
		if problems != nil {
			continue
		}
		for _, n := range catalogue.Needs(f) {
			kept := f.Secrets[n.Name]
			f.Secrets[n.Name] = secret.String{}
			_, err := catalogue.Addons(f)
			f.Secrets[n.Name] = kept
			if err == nil || !strings.Contains(err.Error(), n.Name) || !strings.Contains(err.Error(), "talosgen secrets ") {
				t.Errorf("%s: without %s: %v", c.name, n.Name, err)
			}
			if !strings.HasPrefix(c.name, "bad-") && diag.CodeOf(err) != diag.Secrets {
				t.Errorf("%s: without %s: exit code %v", c.name, n.Name, diag.CodeOf(err))
			}
			asked++
		}
	}
	if asked < 10 {
		t.Errorf("only %d secrets were asked for", asked)
	}
}

// What is generated depends on the random bytes alone, has the form of its
// shape, and is never made of less randomness than it should be.
func TestGeneratedSecrets(t *testing.T) {
	generated := map[string]bool{}
	for _, c := range cases(t) {
		f, problems := c.facts(t)
		if problems != nil {
			continue
		}
		for _, n := range catalogue.Needs(f) {
			if n.Shape == "" || n.What == "" || n.Option == "" || n.Addon == "" {
				t.Errorf("%s: %s does not say what it is: %+v", c.name, n.Name, n)
			}
			if n.Generate == nil || n.Copied && generated[n.Name] { // which takes its time
				continue
			}
			generated[n.Name] = true
			one, err1 := n.Generate(stream("one"))
			again, err2 := n.Generate(stream("one"))
			other, err3 := n.Generate(stream("other"))
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			switch {
			case n.Copied:
				if one.Reveal() == again.Reveal() || one.Reveal() == other.Reveal() {
					t.Errorf("%s is made twice", n.Name)
				}
			case one.Reveal() != again.Reveal() || one.Reveal() == other.Reveal() || len(one.Reveal()) != len(n.Shape):
				t.Errorf("%s: %d characters, shape %d", n.Name, len(one.Reveal()), len(n.Shape))
			}
			if _, err := n.Generate(iotest.ErrReader(errors.New("no entropy"))); err == nil {
				t.Errorf("%s is made without random bytes", n.Name)
			}
			if _, err := n.Generate(bytes.NewReader(make([]byte, 5))); err == nil {
				t.Errorf("%s is made of 5 random bytes", n.Name)
			}
		}
	}
	for _, name := range []string{"CSI_ENCRYPTION_PASSPHRASE", "CILIUM_IPSEC_KEY_1", "CILIUM_IPSEC_KEY_3", "GRAFANA_ADMIN_PASSWORD", "SEALED_SECRETS_KEY_PAIR"} {
		if !generated[name] {
			t.Errorf("nobody generates %s", name)
		}
	}
}

// stream are bytes that depend on a text.
func stream(seed string) *bytes.Reader {
	var b bytes.Buffer
	for i := range 16 {
		sum := sha256.Sum256(fmt.Append(nil, seed, i))
		b.Write(sum[:])
	}
	return bytes.NewReader(b.Bytes())
}

// A key of another length than keySize is refused, without being shown.
func TestIPsecKeyHasItsLength(t *testing.T) {
	for _, c := range cases(t) {
		if c.name != "cilium-ipsec" {
			continue
		}
		f, err := c.facts(t)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"c0ffee", strings.Repeat("zz", 20), strings.Repeat("c0", 36)} {
			f.Secrets["CILIUM_IPSEC_KEY_3"] = secret.New(key)
			_, err := catalogue.Addons(f)
			if err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "40 hexadecimal digits") {
				t.Errorf("%d characters: %v", len(key), err)
			}
		}
		return
	}
	t.Error("there is no such case")
}

// Machine configurations that do not fit into user data are refused.
func TestUserDataHasALimit(t *testing.T) {
	for _, c := range cases(t) {
		if c.name != "autoscaler" {
			continue
		}
		f, err := c.facts(t)
		if err != nil {
			t.Fatal(err)
		}
		var noise strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&noise, "%x", sha256.Sum256(fmt.Append(nil, i)))
		}
		f.Autoscaled["arm"] = secret.New(noise.String())
		_, err = catalogue.Addons(f)
		if err == nil || !strings.Contains(err.Error(), "Hetzner takes 32768") || strings.Contains(err.Error(), "burst") {
			t.Error(err)
		}
		delete(f.Autoscaled, "arm")
		if _, err = catalogue.Addons(f); err == nil || !strings.Contains(err.Error(), "no machine configuration") {
			t.Error(err)
		}
		return
	}
	t.Error("there is no such case")
}

// Flux is none of the addons that it runs itself.
func TestFlux(t *testing.T) {
	var f catalogue.Facts
	f.Cluster.GitOps.Engine, f.Cluster.GitOps.Components = "flux", "managed"
	a, on, err := catalogue.Engine(f)
	if !on || err != nil || a.Namespace != "flux-system" || a.Layer != catalogue.Bootstrap || !strings.HasSuffix(a.Source.Manifests[0].URL, "/v2.9.5/install.yaml") {
		t.Errorf("%+v %v %v", a, on, err)
	}
	f.Cluster.GitOps.Components = "existing"
	if _, on, err := catalogue.Engine(f); on || err != nil {
		t.Errorf("components that exist are installed: %v", err)
	}
}
