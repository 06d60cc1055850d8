package reach

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/apply/reach/reachtest"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/jumphost"
)

// bastion is how a server is gone through.
func bastion(s *reachtest.Server) Bastion {
	return Bastion{Name: "prod-nat-gateway", Address: s.Address, User: "root", HostKey: s.KnownHost(), Signers: s.Signers}
}

// ecdsaKey is the public half of a key that nobody has.
const ecdsaKey = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBHrtFJhvangA2CfRyn+0k6m2kCG2zi4M9wR44FoG2IOodd5/3OZ6br/hbVhXrEw40UtDhb3PQyU8giM/QQuk7Fs="

// echo is a server that says everything back.
func echo(t *testing.T) (address string) {
	return reachtest.Listen(t, func(c net.Conn) { _, _ = io.Copy(c, c); _ = c.Close() })
}

// nobody is an address at which nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// checkCarries sends a line through a transport, there and back.
func checkCarries(t *testing.T, way Transport, address string) {
	t.Helper()
	conn, err := way.Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	checkEchoes(t, conn)
}

func checkEchoes(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := io.WriteString(conn, "through\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "through\n" || err != nil {
		t.Fatalf("came back: %q, %v", line, err)
	}
}

// checkError wants an error with a text and a code.
func checkError(t *testing.T, err error, code diag.Code, texts ...string) {
	t.Helper()
	if diag.CodeOf(err) != code {
		t.Errorf("exit code %d of %v, want %d", diag.CodeOf(err), err, code)
	}
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v does not say %q", err, text)
		}
	}
}

func newJump(t *testing.T, b Bastion) *Jump {
	t.Helper()
	j, err := NewJump(b, Direct{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

func TestDirect(t *testing.T) {
	checkCarries(t, Direct{}, echo(t))
	address := nobody(t)
	_, err := Direct{}.Dial(t.Context(), address)
	checkError(t, err, diag.Remote, address+": refuses connections")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Direct{}.Dial(ended, address)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestJump: all connections share one way through the bastion.
func TestJump(t *testing.T) {
	s := reachtest.Start(t)
	j := newJump(t, bastion(s))
	for range 3 {
		checkCarries(t, j, echo(t))
	}
	if n := s.Connections(); n != 1 {
		t.Errorf("%d SSH connections", n)
	}
}

// TestJumpAgain: when the bastion was rebooted in between, the next connection
// finds its way.
func TestJumpAgain(t *testing.T) {
	s := reachtest.Start(t)
	j := newJump(t, bastion(s))
	for range 3 {
		checkCarries(t, j, echo(t))
		s.Kill()
	}
	if n := s.Connections(); n != 3 {
		t.Errorf("%d SSH connections", n)
	}
}

func TestJumpErrors(t *testing.T) {
	target := nobody(t)
	for _, tt := range []struct {
		name  string
		wrong func(*testing.T, *reachtest.Server, *Bastion)
		code  diag.Code
		final bool // another try changes nothing
		want  []string
	}{
		{"another host key", func(t *testing.T, _ *reachtest.Server, b *Bastion) {
			b.HostKey = string(ssh.MarshalAuthorizedKey(reachtest.NewSigner(t).PublicKey()))
		}, diag.Secrets, true, []string{"server prod-nat-gateway (127.0.0.1:", "shows the host key SHA256:", ", not SHA256:", "an attacker is in between"}},
		{"another kind of host key", func(_ *testing.T, _ *reachtest.Server, b *Bastion) { b.HostKey = ecdsaKey },
			diag.Secrets, true, []string{"has no host key of the type ecdsa-sha2-nistp256"}},
		{"another user", func(_ *testing.T, _ *reachtest.Server, b *Bastion) { b.User = "ada" },
			diag.Secrets, true, []string{"accepts none of your SSH keys for user ada: ssh-ed25519 SHA256:", "ssh-add"}},
		{"another key", func(t *testing.T, _ *reachtest.Server, b *Bastion) {
			other := reachtest.NewSigner(t)
			b.Signers = func() ([]ssh.Signer, error) { return []ssh.Signer{other}, nil }
		}, diag.Secrets, true, []string{"accepts none of your SSH keys for user root"}},
		{"too many keys", func(t *testing.T, s *reachtest.Server, b *Bastion) {
			var keys []ssh.Signer
			for range 9 {
				keys = append(keys, reachtest.NewSigner(t))
			}
			b.Signers = func() ([]ssh.Signer, error) { return append(keys, s.User), nil }
		}, diag.Secrets, true, []string{"does not accept as many tries as you have SSH keys: ssh-ed25519 SHA256:", "name the file of the right one with --ssh-key"}},
		{"no key", func(_ *testing.T, _ *reachtest.Server, b *Bastion) {
			b.Signers = func() ([]ssh.Signer, error) { return nil, nil }
		}, diag.Secrets, true, []string{"and you have none", "--ssh-key"}},
		{"no agent", func(_ *testing.T, _ *reachtest.Server, b *Bastion) { b.Signers = AgentKeys("/nowhere") },
			diag.Secrets, true, []string{"SSH agent: cannot be reached at /nowhere"}},
		{"nobody there", func(t *testing.T, _ *reachtest.Server, b *Bastion) { b.Address = target },
			diag.Remote, false, []string{"server prod-nat-gateway", "the way to the nodes leads through it", "refuses connections"}},
		{"no SSH", func(t *testing.T, _ *reachtest.Server, b *Bastion) {
			b.Address = reachtest.Listen(t, func(c net.Conn) { _ = c.Close() })
		}, diag.Remote, false, []string{"server prod-nat-gateway"}},
		{"forwards nothing", func(_ *testing.T, s *reachtest.Server, _ *Bastion) { s.Prohibit() },
			diag.Remote, true, []string{target + ": must not be reached through prod-nat-gateway", "AllowTcpForwarding"}},
		{"the node refuses", func(*testing.T, *reachtest.Server, *Bastion) {},
			diag.Remote, false, []string{target + ": cannot be reached from prod-nat-gateway (127.0.0.1:", "Connection refused"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := reachtest.Start(t)
			b := bastion(s)
			tt.wrong(t, s, &b)
			j := newJump(t, b)
			_, err := j.Dial(t.Context(), target)
			checkError(t, err, tt.code, tt.want...)
			if Refused(err) != tt.final || Refused(j.Ready(t.Context())) != tt.final {
				t.Errorf("for good: %v, then %v; want %v", Refused(err), j.Ready(t.Context()), tt.final)
			}
		})
	}
}

// TestJumpWithoutHostKey: nothing is ever accepted on trust.
func TestJumpWithoutHostKey(t *testing.T) {
	for _, key := range []string{"", "ssh-ed25519 AAAA"} {
		_, err := NewJump(Bastion{Name: "gw", HostKey: key}, Direct{})
		checkError(t, err, diag.Secrets, "server gw: its SSH host key is not known")
	}
}

// TestJumpInterrupted: a bastion that says nothing holds nobody up for longer
// than they want to wait.
func TestJumpInterrupted(t *testing.T) {
	s := reachtest.Start(t)
	b := bastion(s)
	ctx, cancel := context.WithCancel(t.Context())
	b.Address = reachtest.Listen(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); cancel() })
	_, err := newJump(t, b).Dial(ctx, "192.0.2.1:50000")
	checkError(t, err, diag.Remote, "did not finish the SSH handshake in time")
}

func TestParseKey(t *testing.T) {
	s := reachtest.NewSigner(t)
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(answer string, err error) func(string) (string, error) {
		return func(string) (string, error) { return answer, err }
	}
	open, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte("right"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		data []byte
		ask  func(string) (string, error)
		want string
	}{
		{"open", pem.EncodeToMemory(open), nil, ""},
		{"locked", pem.EncodeToMemory(locked), ask("right", nil), ""},
		{"wrong passphrase", pem.EncodeToMemory(locked), ask("wrong", nil), "or the passphrase is wrong"},
		{"nobody to ask", pem.EncodeToMemory(locked), ask("", errors.New("no terminal")), "id: has a passphrase: no terminal"},
		{"a public key", ssh.MarshalAuthorizedKey(s.PublicKey()), nil, "id: is no private SSH key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			signer, err := ParseKey("id", tt.data, tt.ask)
			if tt.want == "" && (err != nil || signer == nil) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// proxyHandler is an HTTP proxy for CONNECT that wants a password.
func proxyHandler(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || r.Header.Get("Proxy-Authorization") != "Basic bWU6c2VjcmV0" {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	target, err := net.Dial("tcp", r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	conn, rest, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	defer conn.Close()
	defer target.Close()
	jumphost.Pass(struct {
		io.Reader
		io.Writer
	}{rest, conn}, target)
}

func TestProxy(t *testing.T) {
	plainServer := httptest.NewServer(http.HandlerFunc(proxyHandler))
	defer plainServer.Close()
	tlsServer := httptest.NewTLSServer(http.HandlerFunc(proxyHandler))
	defer tlsServer.Close()
	roots := x509.NewCertPool()
	roots.AddCert(tlsServer.Certificate())
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0) // a client that does not trust it is one of the tests
	for _, server := range []*httptest.Server{plainServer, tlsServer} {
		config := &tls.Config{RootCAs: roots}
		p, err := NewProxy(strings.Replace(server.URL, "://", "://me:secret@", 1), config, Direct{})
		if err != nil {
			t.Fatal(err)
		}
		checkCarries(t, p, echo(t))
		_, err = p.Dial(t.Context(), nobody(t))
		checkError(t, err, diag.Remote, "cannot be reached through proxy", "502 Bad Gateway")
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("the password is in %v", err)
		}
		if p, err = NewProxy(server.URL, config, Direct{}); err != nil {
			t.Fatal(err)
		}
		_, err = p.Dial(t.Context(), echo(t))
		checkError(t, err, diag.Remote, "407 Proxy Authentication Required")
	}
	p, err := NewProxy(tlsServer.URL, nil, Direct{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Dial(t.Context(), echo(t))
	checkError(t, err, diag.Remote, "TLS:")
}

func TestProxyErrors(t *testing.T) {
	for _, text := range []string{"", "proxy:3128", "socks5://proxy", "http://"} {
		_, err := NewProxy(text, nil, Direct{})
		checkError(t, err, diag.Usage, "--proxy: not the URL of an HTTP proxy")
	}
	p, err := NewProxy("http://"+nobody(t), nil, Direct{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Dial(t.Context(), "192.0.2.1:50000")
	checkError(t, err, diag.Remote, "the way to the nodes leads through it", "refuses connections")
	ctx, cancel := context.WithCancel(t.Context())
	silent, err := NewProxy("http://"+reachtest.Listen(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); cancel() }), nil, Direct{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Dial(ctx, "192.0.2.1:50000"); err == nil {
		t.Error("a silent proxy gives a connection")
	}
}

// TestJumpThroughProxy: transports go through one another.
func TestJumpThroughProxy(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(proxyHandler))
	defer server.Close()
	p, err := NewProxy(strings.Replace(server.URL, "://", "://me:secret@", 1), nil, Direct{})
	if err != nil {
		t.Fatal(err)
	}
	j, err := NewJump(bastion(reachtest.Start(t)), p)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	checkCarries(t, j, echo(t))
}
