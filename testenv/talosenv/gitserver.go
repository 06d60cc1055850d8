//go:build linux

package talosenv

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// GitServer has one repository. The nodes read it over SSH, with a key that it
// lets in; who has the machine of the test pushes to the folder.
type GitServer struct {
	URL       string // as the nodes reach it
	KnownHost string // the line of a known_hosts file
	Dir       string // of the bare repository

	config *ssh.ServerConfig
	mu     sync.Mutex
	key    ssh.PublicKey
}

// NewGitServer serves an empty repository to the nodes while the test runs.
func (c *Cluster) NewGitServer(t testing.TB) *GitServer {
	t.Helper()

	g := &GitServer{Dir: filepath.Join(t.TempDir(), "clusters.git")}
	if out, err := exec.Command("git", "init", "--quiet", "--bare", "--initial-branch=main", g.Dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}

	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	host, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}

	g.config = &ssh.ServerConfig{PublicKeyCallback: g.authorize}
	g.config.AddHostKey(host)

	var listener net.Listener

	if err := c.network.do(func() error {
		listener, err = net.Listen("tcp", netip.AddrPortFrom(c.Gateway, 0).String())
		return err
	}); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = listener.Close() }) // with which its connections are of no use

	address := listener.Addr().(*net.TCPAddr)
	g.URL = fmt.Sprintf("ssh://git@%s/clusters.git", address)
	g.KnownHost = fmt.Sprintf("[%s]:%d %s", address.IP, address.Port, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(host.PublicKey()))))

	go g.accept(listener)

	return g
}

// Authorize lets in who has a key, and nobody else. It is a line of an
// authorized_keys file.
func (g *GitServer) Authorize(t testing.TB, key string) {
	t.Helper()

	public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(key))
	if err != nil {
		t.Fatal(err)
	}

	g.mu.Lock()
	defer g.mu.Unlock()

	g.key = public
}

func (g *GitServer) authorize(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
	g.mu.Lock()
	defer g.mu.Unlock()

	if g.key == nil || !bytes.Equal(key.Marshal(), g.key.Marshal()) {
		return nil, errors.New("no key of this repository")
	}

	return nil, nil
}

// accept serves until the listener is closed.
func (g *GitServer) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}

		go g.serve(conn)
	}
}

// serve lets a client run git. What goes wrong is the client's to report.
func (g *GitServer) serve(conn net.Conn) {
	defer conn.Close()

	_, channels, requests, err := ssh.NewServerConn(conn, g.config)
	if err != nil {
		return
	}

	go ssh.DiscardRequests(requests)

	for c := range channels {
		if c.ChannelType() != "session" {
			_ = c.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}

		if channel, requests, err := c.Accept(); err == nil {
			go g.session(channel, requests)
		}
	}
}

func (g *GitServer) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer channel.Close()

	for r := range requests {
		var command struct{ Line string }

		reads := r.Type == "exec" && ssh.Unmarshal(r.Payload, &command) == nil && strings.HasPrefix(command.Line, "git-upload-pack ")
		_ = r.Reply(reads || r.Type == "env", nil)

		if reads {
			status := struct{ Code uint32 }{g.uploadPack(channel)}
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(status))

			return
		}
	}
}

// uploadPack gives out what a client asks for, and returns git's exit code.
func (g *GitServer) uploadPack(channel ssh.Channel) uint32 {
	command := exec.Command("git", "upload-pack", g.Dir)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull}
	command.Stdout, command.Stderr = channel, channel.Stderr()

	// Not by the field of the command, which would wait for the client to hang up.
	stdin, err := command.StdinPipe()
	if err != nil || command.Start() != nil {
		return 1
	}

	go func() { _, _ = io.Copy(stdin, channel); _ = stdin.Close() }()

	if command.Wait() != nil {
		return 1
	}

	return 0
}
