package rescue

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/internal/diag"
)

const (
	// bootTries bounds how often the rescue system is tried; it needs a minute.
	bootTries = 60
	// BootPause is between two tries to reach a rescue system.
	BootPause = 5 * time.Second
	// handshakeTime is how long the rescue system may take to let us in.
	handshakeTime = 30 * time.Second
)

// Dialer opens a connection to a server, host:port.
type Dialer func(ctx context.Context, address string) (net.Conn, error)

// Sleeper waits.
type Sleeper interface {
	Sleep(ctx context.Context, d time.Duration) error
}

// System is a connection to a rescue system. Close it.
type System struct{ client *ssh.Client }

// Connect waits until the rescue system at an address lets the key in.
func Connect(ctx context.Context, dial Dialer, clock Sleeper, address string, k Key, host *Host) (*System, error) {
	config := &ssh.ClientConfig{
		User: "root", Auth: []ssh.AuthMethod{ssh.PublicKeys(k.signer)},
		HostKeyCallback: host.check,
	}
	var last error
	for range bootTries {
		client, err := handshake(ctx, dial, net.JoinHostPort(address, "22"), config)
		switch {
		case err == nil:
			return &System{client}, nil
		case host.wrong != "":
			return nil, wrongHost(address, host.wrong)
		}
		last = err
		if err := clock.Sleep(ctx, BootPause); err != nil {
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

// wrongHost says that another machine answers.
func wrongHost(address, shown string) error {
	return diag.On("rescue system at "+address, "it shows the host key %s, which is none of those that Hetzner names: nothing was written", shown).
		WithCode(diag.Secrets).WithHint("another machine answers at this address, or an attacker is in the way")
}

func handshake(ctx context.Context, dial Dialer, address string, config *ssh.ClientConfig) (*ssh.Client, error) {
	dialing, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	conn, err := dial(dialing, address)
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

// Close ends the connection.
func (r *System) Close() { _ = r.client.Close() }

// Run runs a script with bash, and returns what it prints.
func (r *System) Run(ctx context.Context, script string, args ...string) (string, error) {
	session, err := r.client.NewSession()
	if err != nil {
		return "", err
	}
	defer session.Close()
	stop := context.AfterFunc(ctx, r.Close)
	defer stop()
	session.Stdin = strings.NewReader(script)
	out, err := session.Output(command(args...))
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return string(out), err
}

// command runs a script, which comes by stdin.
func command(args ...string) string {
	text := "bash -s --"
	for _, arg := range args {
		text += " " + quote(arg)
	}
	return text
}

// quote makes a text one word for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
