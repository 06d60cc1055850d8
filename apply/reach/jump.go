package reach

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
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
	making *handshake // of the next one, if somebody waits for it
	closed error      // why it passes nothing on, though it lets one in
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
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, silentThrough(address, j.String(), err)
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
	if j.making != nil {
		j.making.cancel()
	}
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

// drop forgets a connection, unless there is a newer one.
func (j *Jump) drop(client *ssh.Client) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.client == client {
		j.client = nil
	}
	_ = client.Close() // it is dead
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
