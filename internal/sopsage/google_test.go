package sopsage

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/getsops/sops/v3/gcpkms"
)

// TestGoogleOverHTTP wraps and unwraps a data key by Google's KMS over HTTP, as
// SOPS_GCP_KMS_CLIENT_TYPE=rest says: what measures such requests has been taken out
// (decision 0018), and they are made all the same, with the token.
func TestGoogleOverHTTP(t *testing.T) {
	const key = "projects/p/locations/global/keyRings/r/cryptoKeys/k"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Plaintext, Ciphertext []byte }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || r.Header.Get("Authorization") != "Bearer a token" {
			http.Error(w, "who is that?", http.StatusForbidden)
			return
		}
		answer := map[string]string{}
		switch r.URL.Path {
		case "/v1/" + key + ":encrypt":
			answer["ciphertext"] = wrapped(request.Plaintext)
		case "/v1/" + key + ":decrypt":
			answer["plaintext"] = wrapped(request.Ciphertext)
		}
		_ = json.NewEncoder(w).Encode(answer) // a test that gets none fails
	}))
	defer server.Close()
	t.Setenv(gcpkms.SopsGCPKMSClientTypeEnv, "rest")
	t.Setenv(gcpkms.SopsGCPKMSEndpointEnv, server.URL)
	t.Setenv(gcpkms.SopsGoogleCredentialsEnv, "")
	t.Setenv(gcpkms.SopsGoogleCredentialsOAuthTokenEnv, "a token")

	master := gcpkms.NewMasterKeyFromResourceID(key)
	if err := master.Encrypt([]byte("data key")); err != nil {
		t.Fatal(err)
	}
	if want := wrapped([]byte("data key")); string(master.EncryptedDataKey()) != want {
		t.Errorf("wrapped: %s, want %s", master.EncryptedDataKey(), want)
	}
	if got, err := master.Decrypt(); err != nil || string(got) != "data key" {
		t.Errorf("unwrapped: %q, %v", got, err)
	}
	t.Setenv(gcpkms.SopsGoogleCredentialsOAuthTokenEnv, "another")
	if _, err := master.Decrypt(); err == nil {
		t.Error("unwrapped with a token that is refused")
	}
}

// wrapped are bytes as the server of the test keeps them: turned around.
func wrapped(text []byte) string {
	text = slices.Clone(text)
	slices.Reverse(text)
	return base64.StdEncoding.EncodeToString(text)
}
