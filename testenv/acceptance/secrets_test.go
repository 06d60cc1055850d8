//go:build linux

package acceptance

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

// secrets are texts that must not be found, each with where it is from.
type secrets map[string]string

// walk takes in all leaves of a tree but certificates.
func (s secrets) walk(path string, tree any) {
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			if name != "crt" && name != "id" {
				s.walk(path+"."+name, value)
			}
		}
	case []any:
		for _, value := range tree {
			s.walk(path, value)
		}
	case string:
		s.add(path, tree)
	}
}

// add takes in a secret, and the forms that it is found in: keys are in base64, and a
// line of one is enough.
func (s secrets) add(from, text string) {
	const short = 12 // as short texts are found by chance
	if len(text) < short {
		return
	}
	s[text] = from
	s[base64.StdEncoding.EncodeToString([]byte(text))] = from
	if plain, err := base64.StdEncoding.DecodeString(text); err == nil && bytes.HasPrefix(plain, []byte("-----BEGIN")) {
		text = string(plain)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > 2*short && !strings.HasPrefix(line, "-----") && !strings.HasPrefix(sshKeyBegins, line) {
			s[line] = from
		}
	}
}

// sshKeyBegins is how every private SSH key of type ed25519 begins: with what it is.
const sshKeyBegins = "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW"

// in tells which secrets a text has, by where they are from.
func (s secrets) in(text string) (found []string) {
	for secret, from := range s {
		if strings.Contains(text, secret) && !slices.Contains(found, from) {
			found = append(found, from)
		}
	}
	slices.Sort(found)
	return found
}

func TestSecretsAreFound(t *testing.T) {
	key := "-----BEGIN KEY-----\nc2VjcmV0LWxpbmUtb25lLW9mLWEta2V5\nc2VjcmV0LWxpbmUtdHdvLW9mLWEta2V5\n-----END KEY-----\n"
	encoded := base64.StdEncoding.EncodeToString([]byte(key))
	known := secrets{}
	known.walk("", map[string]any{
		"certs": map[string]any{"os": map[string]any{"crt": "a-certificate-is-public", "key": encoded}},
		"token": "abcdef.0123456789abcdef", "short": "short", "ssh": sshKeyBegins[:64] + "\nAAAAsecretsecretsecretsecret\n",
		"list": []any{"a-secret-of-a-list"},
	})
	for text, want := range map[string]string{
		"nothing":                             "",
		"a-certificate-is-public":             "",
		"it is short":                         "",
		sshKeyBegins[:64] + " of another key": "",
		"token=abcdef.0123456789abcdef":       ".token",
		"data: " + base64.StdEncoding.EncodeToString([]byte("abcdef.0123456789abcdef")): ".token",
		"key: " + encoded: ".certs.os.key",
		"error: c2VjcmV0LWxpbmUtdHdvLW9mLWEta2V5 is no key":    ".certs.os.key",
		"AAAAsecretsecretsecretsecret, a-secret-of-a-list too": ".list .ssh",
	} {
		if got := strings.Join(known.in(text), " "); got != want {
			t.Errorf("in %q: %q, want %q", text, got, want)
		}
	}
}
