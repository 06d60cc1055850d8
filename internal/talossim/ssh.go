package talossim

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"

	"golang.org/x/crypto/ssh"
	"google.golang.org/grpc/test/bufconn"
)

// SSHServer makes a machine one that passes connections on, such as a NAT
// gateway: to what is reached from its own network.
type SSHServer struct {
	HostKey string   // private, PEM
	Keys    []string // the public keys of root
}

var errHostKey = errors.New("the simulated server has no SSH host key that can be read")

// listenSSH returns the SSH server, which is made when it is first needed.
func (m *Machine) listenSSH() (*server, error) {
	if m.ssh != nil {
		return m.ssh, nil
	}
	host, err := ssh.ParsePrivateKey([]byte(m.spec.SSH.HostKey))
	if err != nil {
		return nil, errHostKey // what cannot be read is a secret all the same
	}
	config := &ssh.ServerConfig{PublicKeyCallback: m.spec.SSH.letsIn}
	config.AddHostKey(host)
	l := bufconn.Listen(buffered)
	ctx, cancel := context.WithCancel(context.Background())
	s := &sshSessions{ctx: ctx, from: m.fleet.From(m.spec.Network), config: config}
	go s.accept(l)
	m.ssh = &server{l, func() { cancel(); _ = l.Close() }}
	return m.ssh, nil
}

var errNoKey = errors.New("no key of root")

func (s *SSHServer) letsIn(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
	known := slices.ContainsFunc(s.Keys, func(line string) bool {
		k, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
		return err == nil && string(k.Marshal()) == string(key.Marshal())
	})
	if meta.User() != "root" || !known {
		return nil, errNoKey
	}
	return nil, nil
}

// sshSessions are the connections to an SSH server, which end with its context.
type sshSessions struct {
	ctx    context.Context
	from   View
	config *ssh.ServerConfig
}

func (s *sshSessions) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go s.serve(conn)
	}
}

func (s *sshSessions) serve(conn net.Conn) {
	stop := context.AfterFunc(s.ctx, func() { _ = conn.Close() })
	defer stop()
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return // the client says why
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		go s.forward(c)
	}
}

// forward is direct-tcpip of RFC 4254, section 7.2.
func (s *sshSessions) forward(c ssh.NewChannel) {
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
	to, err := s.from.Dial(s.ctx, net.JoinHostPort(want.Host, strconv.FormatUint(uint64(want.Port), 10)))
	if err != nil {
		_ = c.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	defer to.Close()
	channel, requests, err := c.Accept()
	if err != nil {
		return
	}
	defer channel.Close()
	go ssh.DiscardRequests(requests)
	exchange(channel, to)
}

// exchange passes bytes on until one side ends.
func exchange(a, b io.ReadWriter) {
	ended := make(chan struct{}, 2)
	pass := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from)
		ended <- struct{}{}
	}
	go pass(a, b)
	go pass(b, a)
	<-ended
}
