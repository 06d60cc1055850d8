// Package jumphost is an SSH server that passes connections on and does nothing
// else, for simulators and for tests.
package jumphost

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"

	"golang.org/x/crypto/ssh"
)

// ErrProhibited is what Dial of a [Host] returns if the server's configuration
// forbids to pass anything on.
var ErrProhibited = errors.New("administratively prohibited")

var errNoKey = errors.New("no key of root")

// Host is such a server.
type Host struct {
	config *ssh.ServerConfig
	dial   func(ctx context.Context, address string) (net.Conn, error)
}

// New returns a server that lets root in with the keys for which known is true,
// and reaches what dial reaches.
func New(host ssh.Signer, known func(ssh.PublicKey) bool, dial func(ctx context.Context, address string) (net.Conn, error)) *Host {
	config := &ssh.ServerConfig{PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if meta.User() != "root" || !known(key) {
			return nil, errNoKey
		}
		return nil, nil
	}}
	config.AddHostKey(host)
	return &Host{config, dial}
}

// Serve serves a connection until it or the context ends, and closes it.
func (h *Host) Serve(ctx context.Context, conn net.Conn) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, h.config)
	if err != nil {
		return // the client says why
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		go h.forward(ctx, c)
	}
}

// forward is direct-tcpip of RFC 4254, section 7.2.
func (h *Host) forward(ctx context.Context, c ssh.NewChannel) {
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
	to, err := h.dial(ctx, net.JoinHostPort(want.Host, strconv.FormatUint(uint64(want.Port), 10)))
	if err != nil {
		reason := ssh.ConnectionFailed
		if errors.Is(err, ErrProhibited) {
			reason = ssh.Prohibited
		}
		_ = c.Reject(reason, err.Error())
		return
	}
	defer to.Close()
	channel, requests, err := c.Accept()
	if err != nil {
		return
	}
	defer channel.Close()
	go ssh.DiscardRequests(requests)
	Pass(channel, to)
}

// Pass copies both ways until one side ends.
func Pass(a, b io.ReadWriter) {
	ended := make(chan struct{}, 2)
	pass := func(to io.Writer, from io.Reader) {
		_, _ = io.Copy(to, from)
		ended <- struct{}{}
	}
	go pass(a, b)
	go pass(b, a)
	<-ended
}
