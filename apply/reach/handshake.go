package reach

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/neterr"
)

// handshake is an SSH connection that is being made, for all who wait for it.
type handshake struct {
	jump   *Jump
	ctx    context.Context
	cancel context.CancelFunc
	tried  []string // the keys that were shown

	done   chan struct{} // closed when the rest is known
	client *ssh.Client
	err    error
}

// handshakeWithin is how long a bastion may take to let one in, without the time in
// which somebody is asked for the passphrase of a key.
const handshakeWithin = 15 * time.Second

// connect returns the SSH connection, and whether it is new. It is made once for all
// who come meanwhile; who goes before leaves it to the others.
func (j *Jump) connect(ctx context.Context) (client *ssh.Client, fresh bool, err error) {
	j.mu.Lock()
	if j.client != nil {
		defer j.mu.Unlock()
		return j.client, false, nil
	}
	m := j.making
	if m == nil {
		m = &handshake{jump: j, done: make(chan struct{})}
		m.ctx, m.cancel = context.WithCancel(context.WithoutCancel(ctx))
		j.making = m
		go m.make()
	}
	j.mu.Unlock()
	select {
	case <-m.done:
		return m.client, true, m.err
	case <-ctx.Done():
		return nil, false, j.problem("did not finish the SSH handshake in time").WithCause(ctx.Err())
	}
}

// make makes the connection, and tells those who wait.
func (m *handshake) make() {
	defer m.cancel()
	client, err := m.connect()
	j := m.jump
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.making == m {
		j.making = nil
	}
	if err == nil && m.ctx.Err() != nil { // it was closed meanwhile
		_ = client.Close()
		client, err = nil, j.problem("the way to the nodes was closed").WithCause(m.ctx.Err())
	}
	if m.client, m.err = client, err; err == nil {
		j.client, j.closed = client, nil
	}
	close(m.done)
}

// connect connects, and does the handshake.
func (m *handshake) connect() (*ssh.Client, error) {
	j := m.jump
	conn, err := Connect(m.ctx, j.through, j.bastion.Address)
	if err != nil {
		return nil, j.problem("the way to the nodes leads through it: %v", plain(err)).WithCause(err)
	}
	// The handshake knows no context: closing the connection ends it.
	ctx, cancel := context.WithCancelCause(m.ctx)
	defer cancel(nil)
	late := time.AfterFunc(handshakeWithin, func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	secured, channels, requests, err := ssh.NewClientConn(conn, j.bastion.Address, m.config(late))
	if err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, m.failed(err)
	}
	return ssh.NewClient(secured, channels, requests), nil
}

// config is that of the handshake, which late ends.
func (m *handshake) config(late *time.Timer) *ssh.ClientConfig {
	j := m.jump
	return &ssh.ClientConfig{
		User: j.bastion.User,
		Auth: []ssh.AuthMethod{ssh.PublicKeysCallback(func() ([]ssh.Signer, error) {
			late.Stop() // somebody may be asked for a passphrase
			defer late.Reset(handshakeWithin)
			return m.signers()
		})},
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			if string(key.Marshal()) != string(j.hostKey.Marshal()) {
				return &wrongHostKeyError{got: ssh.FingerprintSHA256(key), want: ssh.FingerprintSHA256(j.hostKey)}
			}
			return nil
		},
		// A server may have keys of several kinds: only one is known.
		HostKeyAlgorithms: algorithms(j.hostKey.Type()),
	}
}

// signers are the keys to log in with, and notes them.
func (m *handshake) signers() ([]ssh.Signer, error) {
	keys, err := m.jump.bastion.Signers()
	m.tried = nil
	for _, key := range keys {
		m.tried = append(m.tried, key.PublicKey().Type()+" "+ssh.FingerprintSHA256(key.PublicKey()))
	}
	return keys, err
}

// algorithms are those with which a key of a type can be shown. RSA keys have
// several, and the one with SHA-1 is not among them.
func algorithms(keyType string) []string {
	if keyType == ssh.KeyAlgoRSA {
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	return []string{keyType}
}

// wrongHostKeyError is a server that is not the one that was meant.
type wrongHostKeyError struct{ got, want string }

// Error names both keys.
func (e *wrongHostKeyError) Error() string { return "shows the host key " + e.got + ", not " + e.want }

// failed says why the handshake has failed.
func (m *handshake) failed(err error) error {
	j := m.jump
	var wrong *wrongHostKeyError
	var own *diag.Problem
	switch {
	case errors.As(err, &own): // there are no keys
		return own.WithCause(errors.Join(own.Unwrap(), errRefused))
	case errors.As(err, &wrong):
		return j.forGood(err, "%v", wrong).
			WithHint("another server has the address, or an attacker is in between. If the key was changed in Git, the server must be made again with it")
	case strings.Contains(err.Error(), "no common algorithm for host key"):
		return j.forGood(err, "has no host key of the type %s, as the one that is known", j.hostKey.Type()).
			WithHint("another server has the address, or it was not made with the key in Git")
	case strings.Contains(err.Error(), "unable to authenticate"):
		return m.noKeyFits(err)
	case strings.Contains(err.Error(), "oo many authentication failures"): // of OpenSSH with a capital letter
		return j.forGood(err, "does not accept as many tries as you have SSH keys: %s", strings.Join(m.tried, ", ")).
			WithHint("name the file of the right one with --ssh-key")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return j.problem("did not finish the SSH handshake in time").WithCause(err)
	case errors.Is(err, io.EOF), neterr.Broken(err):
		return j.problem("ended the connection before it said who it is").WithCause(err).
			WithHint("is it still starting, or does its firewall let you in?")
	}
	return j.problem("SSH: %v", err).WithCause(err)
}

// noKeyFits says which keys were tried, and where others come from.
func (m *handshake) noKeyFits(err error) error {
	j := m.jump
	if len(m.tried) == 0 {
		return j.forGood(err, "requires an SSH key, and you have none").
			WithHint("load the key into your agent with ssh-add, or name its file with --ssh-key")
	}
	return j.forGood(err, "accepts none of your SSH keys for user %s: %s", j.bastion.User, strings.Join(m.tried, ", ")).
		WithHint("load another key into your agent with ssh-add, or name its file with --ssh-key;\n" +
			"the server lets in the keys that hetzner.sshKeys in cluster.yaml named when it was made")
}
