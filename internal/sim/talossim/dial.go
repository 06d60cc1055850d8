package talossim

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"

	"google.golang.org/grpc/test/bufconn"
)

// The ports on which machines answer.
const (
	talosPort = "50000"
	kubePort  = "6443"
	sshPort   = "22"
)

// View is how a fleet looks from somewhere: which addresses are reached.
type View struct {
	fleet   *Fleet
	network string
	source  netip.Addr
}

// From returns the view from within a private network, such as a NAT gateway
// has. The empty network is that of everybody: only public addresses are reached.
//
// Behind the servers of a project, firewalls and load balancers decide too. This
// view connects as a caller whom the rules of firewalls name: where a rule lets
// anybody in, it comes through. See [View.As].
func (f *Fleet) From(network string) View { return View{fleet: f, network: network} }

// As returns the view of a caller with a source address: firewalls let it in if
// a rule does.
func (v View) As(source netip.Addr) View {
	v.source = source
	return v
}

// Dial connects to an address of everybody's view, host:port.
func (f *Fleet) Dial(ctx context.Context, address string) (net.Conn, error) {
	return f.From("").Dial(ctx, address)
}

// DialContext is [Fleet.Dial] for clients that name the kind of network too.
func (f *Fleet) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	return f.Dial(ctx, address)
}

// DialContext is [View.Dial] for clients that name the kind of network too.
func (v View) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	return v.Dial(ctx, address)
}

// Dial connects to an address, host:port. Where nobody answers it does not wait
// for anything, but fails as if it had.
func (v View) Dial(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	s, err := v.reach(host, port)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	conn, err := s.listener.DialContext(ctx)
	if err != nil { // it was closed meanwhile
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	return conn, nil
}

// errNoServer is a machine that cannot be talked to for a reason of its own.
var errNoServer = errors.New("the simulated node cannot make its certificate")

// find returns what listens there.
func (v View) find(host, port string) (*server, error) {
	f := v.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	m := v.machine(host)
	if m == nil && port == kubePort {
		m = v.behind(host)
	}
	if m != nil && !m.reached() {
		m.said = nil
	}
	if m == nil || !m.on || m.cut {
		return nil, os.ErrDeadlineExceeded
	}
	if port == kubePort && m.servesKubernetes() {
		return m.listenKube()
	}
	if port == sshPort && m.spec.SSH != nil && m.stage == stageRunning {
		return m.listenSSH()
	}
	if port != talosPort || m.apiAt.IsZero() || m.apiAt.After(f.now) {
		m.said = nil
		return nil, syscall.ECONNREFUSED
	}
	return m.listen()
}

// machine returns the one that is reached at an address; nil if there is none.
func (v View) machine(address string) *Machine {
	i := slices.IndexFunc(v.fleet.machines, func(m *Machine) bool {
		return slices.Contains(m.spec.Public, address) ||
			v.network != "" && m.spec.Network == v.network && slices.Contains(m.spec.Private, address)
	})
	if i < 0 {
		return nil
	}
	return v.fleet.machines[i]
}

// behind returns a control plane that an address or a name leads to which is
// that of a cluster's Kubernetes API: of a load balancer, or one that control
// planes share. Private ones are reached from within only.
func (v View) behind(host string) *Machine {
	if ip := net.ParseIP(host); ip != nil && ip.IsPrivate() && v.network == "" {
		return nil
	}
	i := slices.IndexFunc(v.fleet.machines, func(m *Machine) bool {
		return m.servesKubernetes() && !m.cut && m.active.names(host)
	})
	if i < 0 {
		return nil
	}
	return v.fleet.machines[i]
}

// server is what listens on a machine, until it goes down or shows another
// certificate.
type server struct {
	listener *bufconn.Listener
	stop     func()
}

// orRefused is what a server shows: nobody answers if nobody signs it.
func orRefused(id *identity, err error) (*identity, error) {
	switch {
	case errors.Is(err, errNoControlPlane):
		return nil, syscall.ECONNREFUSED
	case err != nil:
		return nil, errors.Join(errNoServer, err)
	}
	return id, nil
}

// buffered is how many bytes of a connection may be on their way.
const buffered = 64 << 10

// listen returns the server of the API, which is made when it is first needed.
func (m *Machine) listen() (*server, error) {
	if m.server != nil {
		return m.server, nil
	}
	if m.certs == nil {
		make := m.certified
		if m.active == nil {
			make = m.selfSigned
		}
		var err error
		if m.certs, err = orRefused(make()); err != nil {
			return nil, err
		}
	}
	m.server = m.serve(m.certs)
	return m.server, nil
}

// breakOff ends all connections of a machine that runs on: its key is the same.
func (m *Machine) breakOff() {
	kept := m.certs
	m.hangUp()
	m.certs = kept
}

// hangUp ends all connections. Calls that are under way find no machine any
// more.
func (m *Machine) hangUp() {
	m.epoch++
	m.certs = nil
	m.wake() // streams end
	for _, s := range []*server{m.server, m.ssh, m.kube} {
		if s != nil {
			s.stop()
		}
	}
	m.server, m.ssh, m.kube = nil, nil, nil
}
