// Package reachtest serves what stands between a test and what it reaches: an
// SSH server that really passes connections on.
package reachtest

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"net"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/sim/jumphost"
)

// Server is an SSH server on loopback that passes connections on, for root only.
type Server struct {
	Address string // host:port
	HostKey ssh.PublicKey
	User    ssh.Signer // the key that it lets in

	mu       sync.Mutex
	sessions []net.Conn
	accepted int
	prohibit bool
	silent   map[string]func()
	ended    chan struct{}
}

// NewSigner makes an SSH key.
func NewSigner(t testing.TB) ssh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// Start serves until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	host := NewSigner(t)
	s := &Server{HostKey: host.PublicKey(), User: NewSigner(t), silent: map[string]func(){}, ended: make(chan struct{})}
	known := func(key ssh.PublicKey) bool { return string(key.Marshal()) == string(s.User.PublicKey().Marshal()) }
	gate := jumphost.New(host, known, s.dial)
	s.Address = Listen(t, func(conn net.Conn) {
		s.mu.Lock()
		s.sessions, s.accepted = append(s.sessions, conn), s.accepted+1
		s.mu.Unlock()
		gate.Serve(context.Background(), conn)
	})
	t.Cleanup(func() {
		s.Kill()
		close(s.ended)
	})
	return s
}

// Listen serves connections on loopback until the test ends.
func Listen(t testing.TB, serve func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return l.Addr().String()
}

// errRefused has the words of OpenSSH.
var errRefused = errors.New("Connection refused")

func (s *Server) dial(ctx context.Context, address string) (net.Conn, error) {
	s.mu.Lock()
	prohibit, asked := s.prohibit, s.silent[address]
	s.mu.Unlock()
	switch {
	case prohibit:
		return nil, jumphost.ErrProhibited
	case asked != nil:
		asked()
		<-s.ended
		return nil, errRefused
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, errRefused
	}
	return conn, err
}

// Kill cuts all connections.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sessions {
		_ = c.Close()
	}
	s.sessions = nil
}

// Connections is how many there have been.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Prohibit makes it refuse to pass connections on.
func (s *Server) Prohibit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prohibit = true
}

// Silent returns an address behind it that never answers. asked is called each time
// that somebody connects to it.
func (s *Server) Silent(asked func()) (address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	address = net.JoinHostPort("192.0.2.1", strconv.Itoa(len(s.silent)+1))
	s.silent[address] = asked
	return address
}

// KnownHost is its host key, as in an authorized_keys file.
func (s *Server) KnownHost() string { return string(ssh.MarshalAuthorizedKey(s.HostKey)) }

// Signers are the keys that it lets in.
func (s *Server) Signers() ([]ssh.Signer, error) { return []ssh.Signer{s.User}, nil }
