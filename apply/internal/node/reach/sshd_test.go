package reach

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

// sshd is an SSH server that passes connections on.
type sshd struct {
	address string
	hostKey ssh.PublicKey
	user    ssh.Signer // whom it lets in

	mu       sync.Mutex
	sessions []net.Conn
	accepted int
	prohibit bool // it forwards nothing
}

// ecdsaKey is the public half of a key that nobody has.
const ecdsaKey = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBHrtFJhvangA2CfRyn+0k6m2kCG2zi4M9wR44FoG2IOodd5/3OZ6br/hbVhXrEw40UtDhb3PQyU8giM/QQuk7Fs="

func newKeyPair() (ed25519.PublicKey, ed25519.PrivateKey, error) {
	return ed25519.GenerateKey(rand.Reader)
}

func newSigner(t *testing.T) ssh.Signer {
	t.Helper()
	_, key, err := newKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

func startSSHD(t *testing.T) *sshd {
	t.Helper()
	host := newSigner(t)
	s := &sshd{hostKey: host.PublicKey(), user: newSigner(t)}
	config := &ssh.ServerConfig{PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if meta.User() != "root" || string(key.Marshal()) != string(s.user.PublicKey().Marshal()) {
			return nil, io.EOF
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	listener := listen(t, func(conn net.Conn) { s.serve(conn, config) })
	s.address = listener
	t.Cleanup(s.kill)
	return s
}

// listen serves connections on loopback until the test ends.
func listen(t *testing.T, serve func(net.Conn)) (address string) {
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

func (s *sshd) serve(conn net.Conn, config *ssh.ServerConfig) {
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
func (s *sshd) forward(c ssh.NewChannel) {
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
	pipe(channel, target)
}

// pipe copies both ways until one of them ends.
func pipe(a, b io.ReadWriteCloser) {
	var once sync.Once
	end := func() { once.Do(func() { _ = a.Close(); _ = b.Close() }) }
	go func() { _, _ = io.Copy(a, b); end() }()
	_, _ = io.Copy(b, a)
	end()
}

// kill cuts all connections.
func (s *sshd) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.sessions {
		_ = c.Close()
	}
	s.sessions = nil
}

func (s *sshd) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

func (s *sshd) bastion() Bastion {
	return Bastion{
		Name: "prod-nat-gateway", Address: s.address, User: "root",
		HostKey: string(ssh.MarshalAuthorizedKey(s.hostKey)),
		Signers: func() ([]ssh.Signer, error) { return []ssh.Signer{s.user}, nil },
	}
}
