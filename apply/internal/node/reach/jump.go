package reach

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/diag"
)

// Bastion is an SSH server that passes connections on.
type Bastion struct {
	Name    string // for messages: the name of the server
	Address string // host:port
	User    string
	// HostKey is the public key that the server must show, as in an
	// authorized_keys file. No other one is ever accepted.
	HostKey string
	Signers Signers
}

// Signers are the keys to log in with: those of an agent, or of files.
type Signers func() ([]ssh.Signer, error)

// Jump connects through a bastion. It keeps one SSH connection for all, and makes
// a new one when that has died.
type Jump struct {
	bastion Bastion
	hostKey ssh.PublicKey
	through Transport

	mu     sync.Mutex
	client *ssh.Client
	tried  []string // the keys that were last shown to it
	closed error    // why it passes nothing on, though it lets one in
}

// NewJump prepares to go through a bastion, which is reached by another
// transport. It makes no connection yet.
func NewJump(b Bastion, through Transport) (*Jump, error) {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(b.HostKey))
	if err != nil {
		return nil, diag.On("server "+b.Name, "its SSH host key is not known, so it cannot be told from another server").
			WithHint("render the environment again: the key stands in infrastructure.yaml").WithCode(diag.Secrets)
	}
	return &Jump{bastion: b, hostKey: key, through: through}, nil
}

// Dial connects through the bastion.
func (j *Jump) Dial(ctx context.Context, address string) (net.Conn, error) {
	client, fresh, err := j.connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := client.DialContext(ctx, "tcp", address)
	var refused *ssh.OpenChannelError
	switch {
	case err == nil:
		return conn, nil
	case errors.As(err, &refused):
		return nil, j.notPassed(address, refused)
	case ctx.Err() != nil:
		// A node that is switched off is as silent as a bastion that has gone.
		go j.probe(client, probeWithin)
	default:
		// The connection is dead. One that had been lying about may have been for long.
		if j.drop(client); !fresh {
			return j.Dial(ctx, address)
		}
	}
	return nil, diag.On(address, "cannot be reached through %s: %v", j, err).WithCode(diag.Remote).WithCause(err)
}

// probeWithin is how long the bastion may take to say that it is still there.
const probeWithin = 5 * time.Second

// probe drops a connection on which the bastion does not answer any more, and with
// it all that go through it. One that lives stays, as others use it.
func (j *Jump) probe(client *ssh.Client, within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { j.drop(client) })
	defer stop()
	// No server knows what that is, and each of them says so.
	if _, _, err := client.SendRequest("keepalive@talosgen.dev", true, nil); err != nil {
		j.drop(client)
	}
}

// Ready connects to the bastion, if that was not done yet. Of the error
// [Refused] tells whether it is worth to try again.
func (j *Jump) Ready(ctx context.Context) error {
	if _, _, err := j.connect(ctx); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closed
}

// errRefused marks what another try does not change.
var errRefused = errors.New("refused for good")

// Refused reports whether an error says that the way to the nodes is closed until
// somebody changes something: keys, or who has an address.
func Refused(err error) bool { return errors.Is(err, errRefused) }

// Close ends the SSH connection, and with it all that go through it. That the
// server has ended it before, as one does that was deleted, is no error.
func (j *Jump) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.client == nil {
		return nil
	}
	err := j.client.Close()
	j.client = nil
	if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// String names the bastion.
func (j *Jump) String() string { return j.bastion.Name + " (" + j.bastion.Address + ")" }

// connect returns the SSH connection, and whether it is new. Whoever comes while
// it is made waits for it.
func (j *Jump) connect(ctx context.Context) (client *ssh.Client, fresh bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.client != nil {
		return j.client, false, nil
	}
	conn, err := j.through.Dial(ctx, j.bastion.Address)
	if err != nil {
		return nil, false, j.problem("the way to the nodes leads through it: %v", plain(err)).WithCause(err)
	}
	// The handshake knows no context: closing the connection ends it.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	secured, channels, requests, err := ssh.NewClientConn(conn, j.bastion.Address, j.config())
	if err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, false, j.handshakeFailed(err)
	}
	j.client, j.closed = ssh.NewClient(secured, channels, requests), nil
	return j.client, true, nil
}

// drop forgets a connection, unless there is a newer one.
func (j *Jump) drop(client *ssh.Client) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.client == client {
		j.client = nil
	}
	_ = client.Close() // it is dead
}

func (j *Jump) config() *ssh.ClientConfig {
	return &ssh.ClientConfig{
		User: j.bastion.User,
		Auth: []ssh.AuthMethod{ssh.PublicKeysCallback(j.signers)},
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
func (j *Jump) signers() ([]ssh.Signer, error) {
	keys, err := j.bastion.Signers()
	j.tried = nil
	for _, key := range keys {
		j.tried = append(j.tried, key.PublicKey().Type()+" "+ssh.FingerprintSHA256(key.PublicKey()))
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

func (j *Jump) handshakeFailed(err error) error {
	var wrong *wrongHostKeyError
	var own *diag.Problem
	switch {
	case errors.As(err, &own): // there are no keys
		return own.WithCause(errors.Join(own.Unwrap(), errRefused))
	case errors.As(err, &wrong):
		return j.forGood(err, "%v", wrong).
			WithHint("another server has the address, or somebody is in between. If the key was changed in Git, the server must be made again with it")
	case strings.Contains(err.Error(), "no common algorithm for host key"):
		return j.forGood(err, "has no host key of the type %s, as the one that is known", j.hostKey.Type()).
			WithHint("another server has the address, or it was not made with the key in Git")
	case strings.Contains(err.Error(), "unable to authenticate"):
		return j.noKeyFits(err)
	case strings.Contains(err.Error(), "oo many authentication failures"): // of OpenSSH with a capital letter
		return j.forGood(err, "lets nobody try as many SSH keys as you have: %s", strings.Join(j.tried, ", ")).
			WithHint("name the file of the right one with --ssh-key")
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return j.problem("did not finish the SSH handshake in time").WithCause(err)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return j.problem("ended the connection before it said who it is").WithCause(err).
			WithHint("is it still starting, or does its firewall let you in?")
	}
	return j.problem("SSH: %v", err).WithCause(err)
}

// noKeyFits says which keys were tried, and where others come from.
func (j *Jump) noKeyFits(err error) error {
	if len(j.tried) == 0 {
		return j.forGood(err, "lets nobody in without a key, and you have none").
			WithHint("load the key into your agent with ssh-add, or name its file with --ssh-key")
	}
	return j.forGood(err, "accepts none of your SSH keys for user %s: %s", j.bastion.User, strings.Join(j.tried, ", ")).
		WithHint("load another key into your agent with ssh-add, or name its file with --ssh-key;\n" +
			"the server lets in the keys that hetzner.sshKeys in cluster.yaml named when it was made")
}

// notPassed is the answer of a bastion that cannot or must not pass a connection
// on.
func (j *Jump) notPassed(address string, err *ssh.OpenChannelError) error {
	p := diag.On(address, "cannot be reached from %s: %s", j, strings.TrimSpace(err.Message)).WithCode(diag.Remote).WithCause(err)
	if err.Reason == ssh.Prohibited {
		p.Message = "must not be reached through " + j.String() + ": its SSH server forwards no connections"
		p.WithHint("AllowTcpForwarding in its sshd_config must be yes or local").WithCause(errors.Join(err, errRefused))
		j.mu.Lock()
		defer j.mu.Unlock()
		j.closed = p
	}
	return p
}

// forGood is a problem that another try does not change.
func (j *Jump) forGood(cause error, format string, args ...any) *diag.Problem {
	return j.problem(format, args...).WithCause(errors.Join(cause, errRefused)).WithCode(diag.Secrets)
}

func (j *Jump) problem(format string, args ...any) *diag.Problem {
	return diag.On("server "+j.String(), format, args...).WithCode(diag.Remote)
}

// plain is an error without its hint, for one that has its own.
func plain(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// ParseKey reads a private key in a file. If it has a passphrase, ask is called
// for it.
func ParseKey(file string, data []byte, ask func(prompt string) (string, error)) (ssh.Signer, error) {
	signer, err := ssh.ParsePrivateKey(data)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		passphrase, askErr := ask("passphrase of " + file + ": ")
		if askErr != nil {
			return nil, diag.New(diag.Pos{File: file}, "has a passphrase: %v", askErr).WithHint("load it into your agent: ssh-add %s", file).
				WithCode(diag.Secrets).WithCause(askErr)
		}
		signer, err = ssh.ParsePrivateKeyWithPassphrase(data, []byte(passphrase))
	}
	if err != nil { // which may quote the file
		return nil, diag.New(diag.Pos{File: file}, "is no private SSH key that can be read, or the passphrase is wrong").WithCode(diag.Secrets)
	}
	return signer, nil
}
