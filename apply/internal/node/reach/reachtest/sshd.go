// Package reachtest serves what stands between a test and what it reaches: an
// SSH server that really passes connections on.
package reachtest

import (
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
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
	s := &Server{HostKey: host.PublicKey(), User: NewSigner(t)}
	config := &ssh.ServerConfig{PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if meta.User() != "root" || string(key.Marshal()) != string(s.User.PublicKey().Marshal()) {
			return nil, io.EOF
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	s.Address = Listen(t, func(conn net.Conn) { s.serve(conn, config) })
	t.Cleanup(s.Kill)
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

func (s *Server) serve(conn net.Conn, config *ssh.ServerConfig) {
	s.mu.Lock()
	s.sessions, s.accepted = append(s.sessions, conn), s.accepted+1
	s.mu.Unlock()
	defer conn.Close()
	server, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	defer server.Close()
	go ssh.DiscardRequests(requests)
	for c := range channels {
		go s.forward(c)
	}
}

// forward is direct-tcpip of RFC 4254, section 7.2.
func (s *Server) forward(c ssh.NewChannel) {
	var want struct {
		Host       string
		Port       uint32
		OriginHost string
		OriginPort uint32
	}
	if c.ChannelType() != "direct-tcpip" || ssh.Unmarshal(c.ExtraData(), &want) != nil {
		_ = c.Reject(ssh.UnknownChannelType, "only direct-tcpip")
		return
	}
	s.mu.Lock()
	prohibit := s.prohibit
	s.mu.Unlock()
	if prohibit {
		_ = c.Reject(ssh.Prohibited, "administratively prohibited")
		return
	}
	target, err := net.Dial("tcp", net.JoinHostPort(want.Host, strconv.Itoa(int(want.Port))))
	if err != nil {
		_ = c.Reject(ssh.ConnectionFailed, "Connection refused")
		return
	}
	channel, requests, err := c.Accept()
	if err != nil {
		_ = target.Close()
		return
	}
	go ssh.DiscardRequests(requests)
	Pipe(channel, target)
}

// Pipe copies both ways until one of them ends.
func Pipe(a, b io.ReadWriteCloser) {
	var once sync.Once
	end := func() { once.Do(func() { _ = a.Close(); _ = b.Close() }) }
	go func() { _, _ = io.Copy(a, b); end() }()
	_, _ = io.Copy(b, a)
	end()
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

// KnownHost is its host key, as in an authorized_keys file.
func (s *Server) KnownHost() string { return string(ssh.MarshalAuthorizedKey(s.HostKey)) }

// Signers are the keys that it lets in.
func (s *Server) Signers() ([]ssh.Signer, error) { return []ssh.Signer{s.User}, nil }
