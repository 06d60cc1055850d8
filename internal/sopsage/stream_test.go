package sopsage

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// encryptStream encrypts a text for recipients.
func encryptStream(t *testing.T, text string, recipients ...string) ([]byte, []string) {
	t.Helper()
	var out bytes.Buffer
	w, leftOut, err := NewKeys(Env{}).EncryptStream(&out, recipients)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), leftOut
}

func decryptStream(t *testing.T, w *world, data []byte, recipients ...string) (string, error) {
	t.Helper()
	r, err := NewKeys(w.env()).DecryptStream(t.Context(), "backup.age", bytes.NewReader(data), recipients)
	if err != nil {
		return "", err
	}
	plain, err := io.ReadAll(r)
	return string(plain), err
}

// TestStreamForAge: what is encrypted is what the program age decrypts, for
// everybody whom age knows.
func TestStreamForAge(t *testing.T) {
	private, public := identity(t, 1)
	sshPrivate, sshPublic, _ := sshKeys(t)
	text := strings.Repeat("every secret of the cluster ", 10_000)
	data, leftOut := encryptStream(t, text, public, "pgp:ABCDEF", sshPublic, "kms:arn:aws:kms")
	if got := strings.Join(leftOut, " "); got != "pgp:ABCDEF kms:arn:aws:kms" {
		t.Errorf("left out %q", got)
	}
	if !IsEncryptedStream(data) || bytes.Contains(data, []byte("every secret")) {
		t.Error("it is not encrypted")
	}
	id, err := age.ParseX25519Identity(private)
	if err != nil {
		t.Fatal(err)
	}
	r, err := age.Decrypt(bytes.NewReader(data), id)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(r); err != nil || string(plain) != text {
		t.Errorf("%d bytes (%v)", len(plain), err)
	}
	for name, w := range map[string]*world{
		"variable": {vars: map[string]string{"SOPS_AGE_KEY": private}},
		"SSH key":  {vars: map[string]string{"HOME": "/home/x"}, files: map[string]string{"/home/x/.ssh/id_ed25519": sshPrivate}},
		"command": {vars: map[string]string{"SOPS_AGE_KEY_CMD": "pass show"}, run: func(_, env []string) (string, error) {
			if env[0] != "SOPS_AGE_RECIPIENT="+public {
				return "", errors.New("not mine")
			}
			return private, nil
		}},
	} {
		if plain, err := decryptStream(t, w, data, "pgp:ABCDEF", public); err != nil || plain != text {
			t.Errorf("%s: %d bytes (%v)", name, len(plain), err)
		}
	}
}

// TestArmoredStream is what `age --armor` writes.
func TestArmoredStream(t *testing.T) {
	private, public := identity(t, 1)
	data, _ := encryptStream(t, "text", public)
	var armored bytes.Buffer
	w := armor.NewWriter(&armored)
	_, _ = w.Write(data)
	_ = w.Close()
	if plain, err := decryptStream(t, &world{vars: map[string]string{"SOPS_AGE_KEY": private}}, armored.Bytes()); err != nil || plain != "text" {
		t.Errorf("%q (%v)", plain, err)
	}
}

func TestStreamFails(t *testing.T) {
	private, public := identity(t, 1)
	other, otherPublic := identity(t, 2)
	mine := &world{vars: map[string]string{"SOPS_AGE_KEY": private}}
	data, _ := encryptStream(t, strings.Repeat("x", 200_000), public)
	_, err := decryptStream(t, &world{vars: map[string]string{"SOPS_AGE_KEY": other}}, data, public)
	wantError(t, err, "backup.age: none of the identities that were found can decrypt it", public, otherPublic)
	_, err = decryptStream(t, &world{}, data)
	wantError(t, err, "backup.age: no identity was found to decrypt it with", "SOPS_AGE_KEY: not set")
	_, err = decryptStream(t, mine, []byte("garbage"))
	wantError(t, err, "backup.age: cannot be decrypted", "is it whole")
	for name, damaged := range map[string][]byte{
		"cut off": data[:len(data)-20], "changed": append(bytes.Clone(data[:len(data)-1]), data[len(data)-1]^1),
	} {
		if _, err := decryptStream(t, mine, damaged); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, test := range map[string]struct {
		recipients []string
		want       string
	}{
		"nobody":          {nil, "there is no recipient to encrypt for"},
		"nobody for age":  {[]string{"pgp:ABCDEF"}, "age encrypts for age and SSH keys only"},
		"a private key":   {[]string{public, "ssh-" + private}, "a recipient cannot be used"},
		"not a recipient": {[]string{"age1xyz"}, "a recipient cannot be used"},
	} {
		_, _, err := NewKeys(Env{}).EncryptStream(io.Discard, test.recipients)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		wantError(t, err, test.want)
		if strings.Contains(err.Error(), private) {
			t.Errorf("%s: the error quotes a key", name)
		}
	}
}
