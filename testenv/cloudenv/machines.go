//go:build linux

package cloudenv

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// machines are what runs behind the servers of a project.
type machines struct {
	t          testing.TB
	bed        *talosenv.Cluster
	authorized string // the public SSH key of the users

	mu      sync.Mutex
	running map[int64]*machine
	closed  bool
	busy    sync.WaitGroup
}

// machine does what happens to a server, in order.
type machine struct {
	mu   sync.Mutex
	stop func() error // nil while it is off
}

// Event starts and stops the machine of a server. The call that brings it about
// is answered meanwhile, as machines take their time.
func (m *machines) Event(e hetznersim.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	one := m.running[e.Server.ID]
	if one == nil {
		one = &machine{}
		m.running[e.Server.ID] = one
	}
	started := make(chan struct{})
	m.busy.Go(func() {
		one.mu.Lock()
		defer one.mu.Unlock()
		close(started) // so that what follows comes after this
		if err := m.happen(one, e); err != nil && m.t.Context().Err() == nil {
			m.t.Errorf("the machine of server %s, %s: %v", e.Server.Name, e.Kind, err)
		}
	})
	<-started
}

func (m *machines) happen(one *machine, e hetznersim.Event) error {
	if one.stop != nil {
		stop := one.stop
		one.stop = nil
		if err := stop(); err != nil {
			return err
		}
	}
	if e.Kind != hetznersim.MachineBooted || e.Server.Rescue {
		return nil
	}
	start := m.gateway
	if len(e.Server.Labels) > 0 { // a snapshot: Hetzner's own images have none
		start = m.node
	}
	var err error
	one.stop, err = start(m.t.Context(), e.Server)
	return err
}

// node boots Talos. All that a node has stored is gone when it is switched off:
// what boots is a new one.
func (m *machines) node(ctx context.Context, s hetznersim.Machine) (stop func() error, err error) {
	if len(s.PrivateIPs) != 1 {
		return nil, fmt.Errorf("it has the private addresses %v", s.PrivateIPs)
	}
	address, err := netip.ParseAddr(s.PrivateIPs[0])
	if err != nil {
		return nil, err
	}
	n, err := m.bed.Boot(ctx, s.Name, address)
	if err != nil {
		return nil, err
	}
	return n.Stop, nil
}

// gateway starts the SSH server with the host key in the user data.
func (m *machines) gateway(ctx context.Context, s hetznersim.Machine) (stop func() error, err error) {
	address, err := netip.ParseAddr(s.PublicIPv4)
	if err != nil {
		return nil, fmt.Errorf("its public address: %w", err)
	}
	var cloudInit struct {
		Keys struct {
			Private string `yaml:"ed25519_private"`
		} `yaml:"ssh_keys"`
	}
	if err := yaml.Unmarshal([]byte(s.UserData), &cloudInit); err != nil || cloudInit.Keys.Private == "" {
		return nil, fmt.Errorf("its user data has no SSH host key")
	}
	return m.bed.StopBastion, m.bed.StartBastion(ctx, talosenv.Bastion{
		Address: address, HostKey: cloudInit.Keys.Private, Authorized: []string{m.authorized},
	})
}

// close lets nothing more happen, and waits for what does.
func (m *machines) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.busy.Wait()
}
