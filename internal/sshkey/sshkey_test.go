package sshkey

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/secret"
)

func TestNew(t *testing.T) {
	random := bytes.NewReader(bytes.Repeat([]byte{7}, 1024))
	private, err := New(random)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey([]byte(private.Reveal()))
	if err != nil || signer.PublicKey().Type() != ssh.KeyAlgoED25519 {
		t.Fatalf("%v, %v", signer, err)
	}
	public, err := Public(private)
	if err != nil {
		t.Fatal(err)
	}
	key, comment, _, rest, err := ssh.ParseAuthorizedKey([]byte(public))
	if err != nil || comment != "" || len(rest) > 0 || !bytes.Equal(key.Marshal(), signer.PublicKey().Marshal()) {
		t.Errorf("the public key is %q: %v", public, err)
	}
	if _, err := New(strings.NewReader("too short")); err == nil {
		t.Error("made of too little randomness")
	}
}

func TestNoKey(t *testing.T) {
	for _, text := range []string{"", "qzxkanarivogl95", "-----BEGIN OPENSSH PRIVATE KEY-----\nqzxkanarivogl95\n-----END OPENSSH PRIVATE KEY-----\n"} {
		if _, err := Public(secret.New(text)); !errors.Is(err, errNoKey) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
