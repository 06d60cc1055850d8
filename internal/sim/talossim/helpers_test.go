package talossim_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/sim/talossim/simtest"
)

// world is a fleet, and the cluster that its machines become.
type world struct {
	t       *testing.T
	fleet   *talossim.Fleet
	cluster *simtest.Cluster
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t, talossim.New(talossim.Options{Random: rand.Reader}), simtest.NewCluster(t, "demo")}
	t.Cleanup(w.fleet.Close)
	return w
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	if err := w.fleet.Clock().Sleep(w.t.Context(), d); err != nil {
		w.t.Fatal(err)
	}
	w.fleet.Settle()
}

// long is enough for everything that machines do by themselves.
const long = 5 * time.Minute

// add puts machines with Talos on their disks into the fleet: the n-th has the
// address 192.0.2.n. They are in maintenance mode.
func (w *world) add(names ...string) {
	w.t.Helper()
	for _, name := range names {
		n := len(w.fleet.Machines()) + 1
		w.fleet.Add(talossim.Spec{Name: name, Public: []string{address(n)}, MACs: []string{fmt.Sprintf("00:00:5e:00:53:%02x", n%256)}, Installed: true}).PowerOn()
	}
	w.pass(long)
}

func address(n int) string { return fmt.Sprintf("192.0.%d.%d", 2+n/250, n%250) }

func (w *world) connect(name string, config *tls.Config) *grpc.ClientConn {
	w.t.Helper()
	at := ""
	for i, m := range w.fleet.Machines() {
		if m.Name() == name {
			at = address(i + 1)
		}
	}
	return w.connectTo(at, config, w.fleet.Dial)
}

func (w *world) connectTo(at string, config *tls.Config, dial func(context.Context, string) (net.Conn, error)) *grpc.ClientConn {
	w.t.Helper()
	config.ServerName, config.MinVersion = at, tls.VersionTLS13
	conn, err := grpc.NewClient("passthrough:///"+net.JoinHostPort(at, "50000"), grpc.WithContextDialer(dial),
		grpc.WithTransportCredentials(credentials.NewTLS(config)))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// bare is a client for a machine in maintenance mode.
func (w *world) bare(name string) machine.MachineServiceClient {
	w.t.Helper()
	return machine.NewMachineServiceClient(w.connect(name, &tls.Config{InsecureSkipVerify: true})) //nolint:gosec // there is nothing to verify
}

// bareOver is a client for a machine in maintenance mode at the end of a
// connection.
func (w *world) bareOver(conn net.Conn) machine.MachineServiceClient {
	w.t.Helper()
	return machine.NewMachineServiceClient(w.connectTo("", &tls.Config{InsecureSkipVerify: true}, func(context.Context, string) (net.Conn, error) { //nolint:gosec // there is nothing to verify
		return conn, nil
	}))
}

// adminAt is a client of an administrator for the machine at an address.
func (w *world) adminAt(at string) machine.MachineServiceClient {
	w.t.Helper()
	return machine.NewMachineServiceClient(w.connectTo(at, w.trusted("os:admin"), w.fleet.Dial))
}

// trusted is a client's TLS for roles.
func (w *world) trusted(roles ...string) *tls.Config {
	w.t.Helper()
	certificate, key := w.cluster.Sign(w.fleet.Clock().Now().Add(-time.Minute), roles...)
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		w.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.cluster.Authority())
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, Time: w.fleet.Clock().Now}
}

// admin is a client of an administrator, with a connection of its own.
func (w *world) admin(name string) machine.MachineServiceClient {
	w.t.Helper()
	return machine.NewMachineServiceClient(w.connect(name, w.trusted("os:admin")))
}

func (w *world) resourcesOf(name string) cosi.StateClient {
	w.t.Helper()
	return cosi.NewStateClient(w.connect(name, w.trusted("os:admin")))
}

// apply hands a configuration to a machine in maintenance mode.
func (w *world) apply(name, config string) {
	w.t.Helper()
	_, err := w.bare(name).ApplyConfiguration(w.t.Context(), &machine.ApplyConfigurationRequest{Data: []byte(config)})
	if err != nil {
		w.t.Fatalf("%s: %v", name, err)
	}
}

// bootstrap makes an etcd of control planes, and waits until all vote.
func (w *world) bootstrap(names ...string) {
	w.t.Helper()
	w.add(names...)
	for _, name := range names {
		w.apply(name, w.cluster.ControlPlane(name))
	}
	w.pass(long)
	w.must(w.admin(names[0]).Bootstrap(w.t.Context(), &machine.BootstrapRequest{}))
	w.pass(long)
	for range names { // one learns at a time
		w.pass(time.Minute)
	}
}

// must wants an answer that is no error: the answer does not matter.
func (w *world) must(_ any, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// members lists etcd as a machine knows it: name, and + for a vote.
func (w *world) members(name string) string {
	w.t.Helper()
	r, err := w.admin(name).EtcdMemberList(w.t.Context(), &machine.EtcdMemberListRequest{})
	if err != nil {
		return status.Code(err).String()
	}
	var list []string
	for _, m := range r.GetMessages()[0].GetMembers() {
		vote := "+"
		if m.GetIsLearner() {
			vote = "?"
		}
		list = append(list, m.GetHostname()+vote)
	}
	return strings.Join(list, " ")
}

func (w *world) stages() string {
	w.t.Helper()
	var list []string
	for _, m := range w.fleet.Machines() {
		list = append(list, m.Stage())
	}
	return strings.Join(list, " ")
}

// expect compares.
func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (w *world) expectCode(what string, err error, want codes.Code) {
	w.t.Helper()
	if status.Code(err) != want {
		w.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// sound wants that nothing happened that must not.
func (w *world) sound() {
	w.t.Helper()
	for _, v := range w.fleet.Violations() {
		w.t.Error(v)
	}
}

// bootID reads the id of the boot; empty if there is none.
func (w *world) bootID(name string) string {
	w.t.Helper()
	stream, err := w.admin(name).Read(context.Background(), &machine.ReadRequest{Path: "/proc/sys/kernel/random/boot_id"})
	if err != nil {
		return ""
	}
	data, err := stream.Recv()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data.GetBytes()))
}

var nothing = &emptypb.Empty{}
