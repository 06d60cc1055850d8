package rescue

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Key is the key of one session. It is in memory only, and ends with it.
type Key struct{ signer ssh.Signer }

// NewKey makes a key of randomness.
func NewKey(random io.Reader) (Key, error) {
	_, private, err := ed25519.GenerateKey(random)
	if err != nil {
		return Key{}, fmt.Errorf("no randomness for a key: %w", err)
	}
	signer, err := ssh.NewSignerFromSigner(private)
	return Key{signer}, err
}

// Public is the line of an authorized_keys file.
func (k Key) Public() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.signer.PublicKey())))
}

// MD5 is the fingerprint by which Hetzner Robot names a public key.
func (k Key) MD5() string { return ssh.FingerprintLegacyMD5(k.signer.PublicKey()) }

// Host says which host keys are accepted.
type Host struct {
	known []string // SHA-256 digests in base64; nil: the key that is met first
	seen  []byte
	wrong string // a key that was refused
}

// FirstHost accepts the key that is met first, and after that only this one.
func FirstHost() *Host { return &Host{} }

// KnownHost accepts keys with one of some SHA-256 fingerprints, in base64, with or
// without the prefix SHA256. Another key ends [Connect] at once.
func KnownHost(fingerprints []string) *Host {
	h := &Host{known: []string{}}
	for _, f := range fingerprints {
		h.known = append(h.known, strings.TrimRight(strings.TrimPrefix(f, "SHA256:"), "="))
	}
	return h
}

func (h *Host) check(_ string, _ net.Addr, public ssh.PublicKey) error {
	if h.known != nil {
		shown := ssh.FingerprintSHA256(public)
		if !slices.Contains(h.known, strings.TrimPrefix(shown, "SHA256:")) {
			h.wrong = shown
			return errors.New("another host key than that of the rescue system")
		}
		return nil
	}
	if h.seen == nil {
		h.seen = public.Marshal()
	}
	if !bytes.Equal(h.seen, public.Marshal()) {
		return errors.New("it has another host key than before")
	}
	return nil
}
