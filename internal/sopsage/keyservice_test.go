package sopsage

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getsops/sops/v3/logging"

	"github.com/talosgen/talosgen/internal/diag"
)

// vault answers like the transit engine of HashiCorp Vault, whose "encryption"
// is a prefix here.
func vault(t *testing.T) (address string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request map[string]string
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || r.Header.Get("X-Vault-Token") != "token" {
			http.Error(w, "refused", http.StatusForbidden)
			return
		}
		data := map[string]string{}
		switch {
		case strings.HasSuffix(r.URL.Path, "/v1/sops/encrypt/dev"):
			data["ciphertext"] = "vault:v1:" + request["plaintext"]
		case strings.HasSuffix(r.URL.Path, "/v1/sops/decrypt/dev"):
			data["plaintext"] = strings.TrimPrefix(request["ciphertext"], "vault:v1:")
		default:
			http.Error(w, "unknown path", http.StatusNotFound)
			return
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"data": data}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestOtherKeyServices: a key source that is not age works through SOPS' own
// service, for files and for the keyring, with or without an age key.
func TestOtherKeyServices(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("VAULT_TOKEN", "token")
	_, public := identity(t, 1)
	uri := vault(t) + "/v1/sops/keys/dev"
	rule, err := RuleFor(".sops.yaml", []byte("creation_rules:\n  - hc_vault_transit_uri: "+uri+"\n    age: "+public+"\n"), "s.sops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	named := Env{Recipients: func(string) (Recipients, error) { return rule.Recipients(), nil }}
	keys := NewKeys(named)
	file, err := Encrypt("s.sops.yaml", []byte(secretsPlain), rule, testRandom(1), testTime)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := keys.DecryptYAML(t.Context(), "s.sops.yaml", file)
	if err != nil || string(plain) != secretsPlain {
		t.Errorf("got %q, %v", plain, err)
	}

	ring, err := NewKeyring(rule.Recipients(), rule.Recipients(), testBinding, testRandom(1), testTime)
	if err != nil {
		t.Fatal(err)
	}
	text := encode(t, ring)
	if !strings.Contains(text, `created_at: "2026-03-01T12:30:00Z"`) {
		t.Errorf("the date of the wrapped key is not the one that was passed:\n%s", text)
	}
	if ring, err = ParseKeyring("keyring.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	key, err := ring.Unwrap(t.Context(), keys, Operator, testBinding)
	if err != nil {
		t.Fatal(err)
	}
	rendered := encryptTemplate(t, key, "nodes/a.yaml", sample)
	if _, err := NewKeys(named).DecryptYAML(t.Context(), "nodes/a.yaml", []byte(rendered)); err != nil {
		t.Error(err)
	}

	t.Setenv("VAULT_TOKEN", "wrong")
	_, err = NewKeys(named).DecryptYAML(t.Context(), "s.sops.yaml", file)
	wantError(t, err, "no identity was found", "this went wrong:", public, "hc_vault:"+strings.TrimSuffix(uri, "/keys/dev")[:20])
	_, err = Encrypt("s.sops.yaml", []byte(secretsPlain), rule, testRandom(1), testTime)
	wantError(t, err, "could not be encrypted for a recipient")
	if diag.CodeOf(err) != diag.Secrets {
		t.Errorf("code %d", diag.CodeOf(err))
	}
	if want := base64.StdEncoding.EncodeToString(key.key); strings.Contains(err.Error(), want) {
		t.Error("the data key is in the error")
	}
}

func TestLoggersAreSilent(t *testing.T) {
	if len(logging.Loggers) == 0 {
		t.Fatal("SOPS has no loggers any more: see init")
	}
	for name, logger := range logging.Loggers {
		if _, ok := logger.Out.(discard); !ok {
			t.Errorf("%s writes to %T", name, logger.Out)
		}
	}
}
