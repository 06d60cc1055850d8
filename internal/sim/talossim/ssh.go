package talossim

import (
	"context"
	"errors"
	"net/netip"
	"slices"

	"golang.org/x/crypto/ssh"
	"google.golang.org/grpc/test/bufconn"

	"github.com/talosgen/talosgen/internal/sim/jumphost"
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
	key, err := ssh.ParsePrivateKey([]byte(m.spec.SSH.HostKey))
	if err != nil {
		return nil, errHostKey // what cannot be read is a secret all the same
	}
	host := jumphost.New(key, m.spec.SSH.knows, m.view().Dial)
	l := bufconn.Listen(buffered)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go host.Serve(ctx, conn)
		}
	}()
	m.ssh = &server{l, func() { cancel(); _ = l.Close() }}
	return m.ssh, nil
}

// view is how the fleet looks from a machine.
func (m *Machine) view() View {
	v := m.fleet.From(m.spec.Network)
	for _, text := range m.spec.Public {
		if addr, err := netip.ParseAddr(text); err == nil {
			return v.As(addr)
		}
	}
	return v
}

func (s *SSHServer) knows(key ssh.PublicKey) bool {
	return slices.ContainsFunc(s.Keys, func(line string) bool {
		k, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
		return err == nil && string(k.Marshal()) == string(key.Marshal())
	})
}
