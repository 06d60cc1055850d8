package reach

import (
	"context"
	"errors"
	"net"
	"time"

	"golang.org/x/crypto/ssh"
)

// Prove connects to an SSH server, and has it prove that it has its host key. It takes no
// key of whoever asks, for it does not log in. The error says why it is not proven.
func Prove(ctx context.Context, b Bastion, through Transport) error {
	j, err := NewJump(b, through)
	if err != nil {
		return err
	}
	conn, err := Connect(ctx, through, b.Address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	// The handshake knows no context: closing the connection ends it.
	ctx, cancel := context.WithTimeout(ctx, handshakeWithin)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	m := &handshake{jump: j}
	config := m.config(time.NewTimer(handshakeWithin))
	config.Auth = nil // to be asked for a key comes after the proof
	check, proven := config.HostKeyCallback, false
	config.HostKeyCallback = func(host string, at net.Addr, key ssh.PublicKey) error {
		err := check(host, at, key)
		proven = err == nil
		return err
	}
	client, _, _, err := ssh.NewClientConn(conn, b.Address, config)
	if err == nil {
		_ = client.Close()
	}
	switch {
	case proven:
		return nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil:
		err = errors.New("showed no host key")
	}
	return m.failed(err)
}
