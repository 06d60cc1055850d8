package machine

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/rotation"
	"github.com/talosgen/talosgen/internal/secret"
)

// authorities are the kinds that nodes accept another one of.
var authorities = []rotation.Kind{rotation.TalosCA, rotation.KubernetesCA, rotation.ServiceAccount}

// TestAccepting: a node trusts the other authority of a rotation, in the place that its
// contract has for it, as a secret, and Talos takes the configuration.
func TestAccepting(t *testing.T) {
	bundle, other := bundles(t)
	for _, kind := range authorities {
		certificate, key, err := NewAuthority(kind, testTime)
		if err != nil {
			t.Fatal(err)
		}
		both, err := bundle.Accepting(kind, certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		for _, contract := range contracts {
			for _, role := range []Role{ControlPlane, Worker} {
				c, err := Generate(testSettings(contract), role, both, other)
				if kind == rotation.ServiceAccount && contract != "v1.14" {
					if !errors.Is(err, errOneKey) {
						t.Errorf("%s %s %s: %v", kind, contract, role, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				text := textOf(t, c)
				plain := textOf(t, testBase(t, contract, role))
				field := "acceptedCAs"
				if kind == rotation.ServiceAccount {
					field = "publicKeys"
				}
				concerned := kind != rotation.ServiceAccount || role == ControlPlane
				if grown := strings.Count(text, "\n") > strings.Count(plain, "\n"); grown != concerned || concerned && !strings.Contains(text, field) {
					t.Errorf("%s %s %s: it has %d lines, and had %d", kind, contract, role, strings.Count(text, "\n"), strings.Count(plain, "\n"))
				}
				if strings.Contains(text, key.Reveal()) {
					t.Errorf("%s %s %s: it has the private key", kind, contract, role)
				}
				if _, problems, err := c.Validate("cloud", true); err != nil || len(problems) > 0 {
					t.Errorf("%s %s %s: %v, %v", kind, contract, role, problems, err)
				}
			}
		}
	}
}

// TestAcceptingPublicKey: API servers get the public half of the key.
func TestAcceptingPublicKey(t *testing.T) {
	bundle, _ := bundles(t)
	_, key, err := NewAuthority(rotation.ServiceAccount, testTime)
	if err != nil {
		t.Fatal(err)
	}
	both, err := bundle.Accepting(rotation.ServiceAccount, secret.String{}, key)
	if err != nil || !bytes.HasPrefix(both.accepted, []byte("-----BEGIN PUBLIC KEY-----")) {
		t.Fatalf("%s, %v", both.accepted, err)
	}
}

func TestAcceptingRefuses(t *testing.T) {
	bundle, _ := bundles(t)
	const canary = "zq8w1-canary"
	for _, kind := range authorities {
		for _, text := range []string{"", canary, base64.StdEncoding.EncodeToString([]byte(canary))} {
			if _, err := bundle.Accepting(kind, secret.New(text), secret.New(text)); err == nil || strings.Contains(err.Error(), canary) {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
}
