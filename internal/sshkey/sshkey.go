// Package sshkey makes and reads the SSH host key of the NAT gateway, in the
// formats of OpenSSH. Knowing it beforehand is what lets apply go through the
// gateway without trusting whoever answers first.
package sshkey

import (
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"io"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/secret"
)

// New makes an Ed25519 key, in the format of OpenSSH's private key files.
func New(random io.Reader) (secret.String, error) {
	_, private, err := ed25519.GenerateKey(random)
	if err != nil {
		return secret.String{}, err
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return secret.String{}, err
	}
	return secret.New(string(pem.EncodeToMemory(block))), nil
}

// errNoKey says nothing of what it was given: it may be a secret.
var errNoKey = errors.New("is not the private key of an SSH host, without a passphrase, as ssh-keygen writes it")

// Public returns the public half of a private key, as a line of an
// authorized_keys file without a comment.
func Public(private secret.String) (string, error) {
	signer, err := ssh.ParsePrivateKey([]byte(private.Reveal()))
	if err != nil {
		return "", errNoKey
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), nil
}
