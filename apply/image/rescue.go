package image

import (
	"bytes"
	"context"
	"crypto/ed25519"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/diag"
)

//go:embed rescue.sh
var rescueScript string

const (
	// disk is the only one of a server at Hetzner Cloud.
	disk = "/dev/sda"
	// bootTries bounds how often the rescue system is tried; it needs a minute.
	bootTries = 60
	bootPause = 5 * time.Second
	// handshakeTime is how long the rescue system may take to let us in.
	handshakeTime = 30 * time.Second
)

// Dialer opens a connection to a server, host:port.
type Dialer func(ctx context.Context, address string) (net.Conn, error)

// key is the key of one build. It is in memory only, and ends with it.
type key struct {
	signer ssh.Signer
	host   *hostKey
}

// hostKey is the key of the host that was met first.
type hostKey struct{ seen []byte }

// check believes the first host, and after that only that one.
func (h *hostKey) check(_ string, _ net.Addr, public ssh.PublicKey) error {
	if h.seen == nil {
		h.seen = public.Marshal()
	}
	if !bytes.Equal(h.seen, public.Marshal()) {
		return errors.New("it has another host key than before")
	}
	return nil
}

func newKey(random io.Reader) (key, error) {
	_, private, err := ed25519.GenerateKey(random)
	if err != nil {
		return key{}, fmt.Errorf("no randomness for a key: %w", err)
	}
	signer, err := ssh.NewSignerFromSigner(private)
	return key{signer, &hostKey{}}, err
}

// public is the line of an authorized_keys file.
func (k key) public() string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.signer.PublicKey())))
}

// rescue is a connection to a rescue system.
type rescue struct{ client *ssh.Client }

// connect waits until the rescue system at an address lets the key in.
//
// Nobody can know the host key of a rescue system beforehand, so whoever
// answers first is believed. That is safe for what is done here. The signature of our
// key is bound to the one connection, so who stands in between cannot pass it
// on to the server; nothing that is sent is secret; and the snapshot is taken
// by Hetzner, of a disk that only we can write to. All that is left to them is
// to keep the image from being written.
func (m *Builder) connect(ctx context.Context, address string, k key) (*rescue, error) {
	config := &ssh.ClientConfig{
		User: "root", Auth: []ssh.AuthMethod{ssh.PublicKeys(k.signer)},
		HostKeyCallback: k.host.check,
	}
	var last error
	for range bootTries {
		client, err := m.handshake(ctx, net.JoinHostPort(address, "22"), config)
		if err == nil {
			return &rescue{client}, nil
		}
		last = err
		if err := m.Clock.Sleep(ctx, bootPause); err != nil {
			return nil, err
		}
	}
	var problem *diag.Problem
	if errors.As(last, &problem) {
		last = errors.New(problem.Message) // the hint is about nodes
	}
	return nil, diag.On("rescue system at "+address, "cannot be reached by SSH: %v", last).WithCode(diag.NotReady).WithCause(last).
		WithHint("does something between here and there block port 22?")
}

func (m *Builder) handshake(ctx context.Context, address string, config *ssh.ClientConfig) (*ssh.Client, error) {
	dialing, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	conn, err := m.Dial(dialing, address)
	if err != nil {
		return nil, err
	}
	// The library knows no context: closing the connection ends it.
	stop := context.AfterFunc(dialing, func() { _ = conn.Close() })
	defer stop()
	c, channels, requests, err := ssh.NewClientConn(conn, address, config)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return ssh.NewClient(c, channels, requests), nil
}

func (r *rescue) close() { _ = r.client.Close() }

// written is what a rescue system has put on its disk.
type written struct {
	Size   int64  // in bytes
	Digest string // SHA-256 of these bytes
	Packed string // SHA-256 of what was downloaded
}

// write lets the rescue system download an image to its disk and read it back;
// tell hears of the progress, about once a second.
func (r *rescue) write(ctx context.Context, s Source, notify func(bytes int64) error) (w written, err error) {
	session, err := r.client.NewSession()
	if err != nil {
		return w, explain(s.URL, err, "")
	}
	defer session.Close()
	stop := context.AfterFunc(ctx, r.close)
	defer stop()
	var out bytes.Buffer
	said := &progressWriter{notify: notify, stop: r.close}
	session.Stdin, session.Stdout, session.Stderr = strings.NewReader(rescueScript), &out, said
	err = session.Run(s.command(disk))
	switch {
	case ctx.Err() != nil:
		return w, ctx.Err()
	case said.err() != nil:
		return w, said.err()
	case err != nil:
		return w, explain(s.URL, err, said.last())
	}
	if _, err := fmt.Sscan(out.String(), &w.Size, &w.Digest, &w.Packed); err != nil {
		return w, fmt.Errorf("the rescue system said %q: %w", out.String(), err)
	}
	return w, nil
}

// command runs rescue.sh, which comes by stdin.
func (s Source) command(disk string) string {
	return fmt.Sprintf("bash -s -- %s %s %s %s", quote(s.URL), quote(s.SHA256), quote(disk), quote(s.Schematic))
}

// quote makes a text one word for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Exit codes of rescue.sh after which another try may help.
const (
	exitDownload = 23
	exitUnpack   = 24
	exitReadBack = 27
)

// errAgain marks errors after which another try may help.
var errAgain = errors.New("another try may help")

var hints = map[int]string{
	20:           "run the same command again: it makes a new server",
	21:           "name one of those with --image-url",
	exitDownload: "--image-url takes the image from elsewhere; a schematic of which only the id is known has to be uploaded to the Image Factory once",
	exitUnpack:   "was the download cut short, or is it something else?",
	25:           "the image may be larger than the disk: choose a larger builderType in cluster.yaml",
	26:           "it is not the digest that was asked for with #sha256=",
	28:           "does the URL lead to a disk image for hcloud?",
}

// explain says what went wrong in the rescue system.
func explain(url string, err error, said string) error {
	var exit *ssh.ExitError
	if !errors.As(err, &exit) {
		return diag.On("image "+url, "the rescue system went away: %v", err).WithCode(diag.Remote).WithCause(errAgain)
	}
	if said == "" {
		said = err.Error()
	}
	p := diag.On("image "+url, "%s", said).WithCode(diag.Remote).WithCause(err)
	if code := exit.ExitStatus(); code == exitDownload || code == exitUnpack || code == exitReadBack {
		p.Err = errAgain
	}
	p.Hint = hints[exit.ExitStatus()]
	return p
}

// progressWriter takes what a rescue system says on stderr: lines of dd about
// its progress, which end with a carriage return, and others.
type progressWriter struct {
	notify func(bytes int64) error
	stop   func() // ends what goes on, if tell fails

	mu     sync.Mutex
	line   []byte
	other  string // the last line that is not about progress
	failed error
}

// maxLine keeps a stream without lines from filling the memory.
const maxLine = 4096

// Write takes in a piece of text.
func (p *progressWriter) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range text {
		if b != '\r' && b != '\n' {
			if len(p.line) < maxLine {
				p.line = append(p.line, b)
			}
			continue
		}
		p.take(string(p.line))
		p.line = p.line[:0]
	}
	return len(text), nil
}

func (p *progressWriter) take(line string) {
	var n int64
	switch count, _ := fmt.Sscanf(line, "%d bytes", &n); {
	case count == 1:
		if err := p.notify(n); err != nil && p.failed == nil {
			p.failed = err
			p.stop()
		}
	case strings.TrimSpace(line) != "" && !strings.Contains(line, "+") || strings.Contains(line, ": "):
		p.other = strings.TrimSpace(line)
	}
}

func (p *progressWriter) last() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.other
}

func (p *progressWriter) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}
