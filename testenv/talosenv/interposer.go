//go:build linux

package talosenv

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// interposer is before the API of a node. Clients show it a certificate of the cluster's
// authority, as they would to the node.
type interposer struct {
	machine.UnimplementedLifecycleServiceServer

	swaps    *Swaps
	node     *Node
	incoming *incoming
	server   *http.Server

	mu                sync.Mutex
	installs, reboots int
	written           bool   // by an installer, in this boot
	next              system // what it boots
	busy, leaving     bool   // an installer runs; it reboots
	open              []net.Conn
}

// dial connects to the node.
func (i *interposer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := i.swaps.cluster.Dial(ctx, network, address)
	if err != nil {
		return nil, err
	}

	i.mu.Lock()
	defer i.mu.Unlock()

	i.open = append(i.open, conn)

	return conn, nil
}

// What it answers itself.
const (
	upgradeCall = "/machine.LifecycleService/Upgrade"
	rebootCall  = "/machine.MachineService/Reboot"
)

func newInterposer(s *Swaps, n *Node, machineConfig []byte) (*interposer, error) {
	shown, own, trusted, err := certificates(machineConfig, n.Address)
	if err != nil {
		return nil, err
	}

	address := netip.AddrPortFrom(n.Address, apiPort).String()
	i := &interposer{swaps: s, node: n, next: n.runs, incoming: &incoming{connections: make(chan net.Conn), closed: make(chan struct{})}}

	passed := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "https", Host: address}) },
		FlushInterval:  -1,
		ErrorHandler:   unavailable,
		ModifyResponse: withTrailers,
		Transport: &http.Transport{
			DialContext:       i.dial,
			ForceAttemptHTTP2: true,
			TLSClientConfig:   &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: trusted},
		},
	}

	i.server = &http.Server{Handler: i.before(passed), ErrorLog: log.New(io.Discard, "", 0), TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{shown}, ClientCAs: trusted, ClientAuth: tls.RequireAndVerifyClientCert, NextProtos: []string{"h2"},
	}}

	go func() { _ = i.server.ServeTLS(i.incoming, "", "") }() // ends with the proxy

	return i, nil
}

// before answers what a node refuses, and passes all else on.
func (i *interposer) before(passed http.Handler) http.Handler {
	answered := grpc.NewServer()
	machine.RegisterLifecycleServiceServer(answered, i)
	machine.RegisterMachineServiceServer(answered, rebooter{interposer: i})

	handler := http.NewServeMux()
	handler.Handle("/", passed)
	handler.Handle(upgradeCall, answered)
	handler.Handle(rebootCall, answered)

	return handler
}

// withTrailers lets an answer that is an error have its status in trailers. A node sends
// such a one as a single frame that ends the stream, in the headers; the proxy may end the
// stream in another frame, and gRPC then knows no status.
func withTrailers(r *http.Response) error {
	for _, name := range []string{"Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin"} {
		if values := r.Header.Values(name); len(values) > 0 {
			if r.Trailer == nil {
				r.Trailer = http.Header{}
			}

			r.Trailer[name] = values
			r.Header.Del(name)
		}
	}

	return nil
}

// unavailable is the answer of a node that is not reached, as gRPC has it.
func unavailable(w http.ResponseWriter, _ *http.Request, err error) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", "14")
	w.Header().Set("Grpc-Message", err.Error())
}

// installTakes is how long an installation seems to take.
const installTakes = time.Second

// Upgrade notes which system the node boots next. Its checks, and their order, are those of
// Talos in internal/app/machined/internal/server/v1alpha1/v1alpha1_lifecycle.go.
func (i *interposer) Upgrade(in *machine.LifecycleServiceUpgradeRequest, stream grpc.ServerStreamingServer[machine.LifecycleServiceUpgradeResponse]) error {
	name := in.GetSource().GetImageName()

	with, err := i.begin(name, in.GetContainerd().GetNamespace())
	if err != nil {
		return err
	}

	text := &machine.LifecycleServiceInstallProgress_Message{Message: "running Talos installer " + name}
	_ = stream.Send(&machine.LifecycleServiceUpgradeResponse{Progress: &machine.LifecycleServiceInstallProgress{Response: text}}) // it goes on without its client

	time.Sleep(installTakes)
	i.wrote(with)

	code := &machine.LifecycleServiceInstallProgress_ExitCode{}

	return stream.Send(&machine.LifecycleServiceUpgradeResponse{Progress: &machine.LifecycleServiceInstallProgress{Response: code}})
}

// begin finds the system of an installer, and lets it run. A second one in one boot is
// against what users are promised.
func (i *interposer) begin(name string, where common.ContainerdNamespace) (system, error) {
	i.mu.Lock()
	defer i.mu.Unlock()

	switch {
	case i.busy || i.leaving:
		return system{}, status.Error(codes.FailedPrecondition, "another installation/upgrade is already in progress")
	case name == "":
		return system{}, status.Error(codes.InvalidArgument, "image name is required")
	case where != common.ContainerdNamespace_NS_SYSTEM:
		return system{}, status.Errorf(codes.NotFound, "image %q: not found", name)
	}

	with, err := i.swaps.cluster.installed(name)
	if err != nil {
		return system{}, status.Error(codes.NotFound, err.Error())
	}

	if i.written {
		i.swaps.t.Errorf("%s: Talos is installed a second time in one boot", i.node.Name)
	}

	i.busy = true

	return with, nil
}

func (i *interposer) wrote(with system) {
	i.mu.Lock()
	defer i.mu.Unlock()

	i.installs++
	i.busy, i.written, i.next = false, true, with
}

// rebooter is the other service of the two that it answers.
type rebooter struct {
	machine.UnimplementedMachineServiceServer
	*interposer
}

// Upgrade is the call of before Talos 1.13.
func (rebooter) Upgrade(context.Context, *machine.UpgradeRequest) (*machine.UpgradeResponse, error) {
	return nil, status.Error(codes.Unimplemented, "the installer is run by LifecycleService")
}

// Reboot starts the node anew, and answers before.
func (i rebooter) Reboot(context.Context, *machine.RebootRequest) (*machine.RebootResponse, error) {
	i.mu.Lock()
	defer i.mu.Unlock()

	if i.busy || i.leaving {
		return nil, status.Error(codes.FailedPrecondition, "another sequence is in progress")
	}

	i.leaving = true

	i.swaps.busy.Go(i.boot)

	return &machine.RebootResponse{Messages: []*machine.Reboot{{ActorId: newBootID()}}}, nil
}

func (i *interposer) boot() {
	err := i.node.restart(context.Background(), i.swaps.cluster, i.next)

	i.mu.Lock()
	defer i.mu.Unlock()

	i.reboots++
	i.leaving, i.written = false, false

	for _, conn := range i.open {
		_ = conn.Close() // who was switched off may have said nothing
	}

	i.open = nil

	if err != nil {
		i.swaps.t.Error(err)
	}
}
