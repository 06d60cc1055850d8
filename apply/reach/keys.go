package reach

import (
	"context"
	"net"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/talosgen/talosgen/internal/diag"
)

// AgentKeys are the keys of the SSH agent that listens on a socket.
func AgentKeys(socket string) Signers {
	return func() ([]ssh.Signer, error) {
		// The connection lives as long as the signers, which sign over it.
		conn, err := new(net.Dialer).DialContext(context.Background(), "unix", socket)
		if err != nil {
			return nil, diag.On("SSH agent", "cannot be reached at %s: %v", socket, reason(err)).
				WithHint("start it, or name the file of a key with --ssh-key").WithCode(diag.Secrets).WithCause(err)
		}
		keys, err := agent.NewClient(conn).Signers()
		if err != nil {
			_ = conn.Close()
			return nil, diag.On("SSH agent", "does not list its keys: %v", err).WithCode(diag.Secrets).WithCause(err)
		}
		return keys, nil
	}
}

// FileKeys are private keys in files, by their names and contents. If one has a
// passphrase, ask is called for it, once.
func FileKeys(names []string, contents [][]byte, ask func(prompt string) (string, error)) Signers {
	var known []ssh.Signer
	return func() ([]ssh.Signer, error) {
		for i := len(known); i < len(names); i++ {
			key, err := ParseKey(names[i], contents[i], ask)
			if err != nil {
				return nil, err
			}
			known = append(known, key)
		}
		return known, nil
	}
}
