package talossim

import (
	"context"
	"slices"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
)

// service answers the calls to a machine that come over the connections of one
// epoch.
type service struct {
	machine.UnimplementedMachineServiceServer

	fleet *Fleet
	m     *Machine
	epoch int
	// Breaks the connections; nil if they break by themselves.
	drop func()
}

// gone is the answer to a call that comes over a connection of an earlier epoch.
func (s *service) gone() error {
	if s.drop != nil {
		s.drop()
	}
	return errGone
}

// serve makes the server of the Talos API.
func (m *Machine) serve(id *identity) *server {
	s := &service{fleet: m.fleet, m: m, epoch: m.epoch}
	config := id.config(m.now, "h2")
	g := grpc.NewServer(grpc.Creds(credentials.NewTLS(config)), grpc.UnaryInterceptor(s.unary), grpc.StreamInterceptor(s.stream))
	machine.RegisterMachineServiceServer(g, s)
	machine.RegisterLifecycleServiceServer(g, &lifecycle{service: s})
	machine.RegisterImageServiceServer(g, &images{service: s})
	cosi.RegisterStateServer(g, &resources{service: s})
	l := bufconn.Listen(buffered)
	c := &counted{Listener: l}
	s.drop = c.breakAll
	go func() { _ = g.Serve(c) }() // it ends with Stop
	// What was begun is answered: the call that makes a machine go away may be one.
	return &server{l, func() { go g.GracefulStop() }}
}

var (
	errGone   = status.Error(codes.Unavailable, "error reading from server: EOF")
	errDenied = status.Error(codes.PermissionDenied, "not authorized")
	errHang   = status.Error(codes.DeadlineExceeded, "context deadline exceeded")
)

// unary answers a call with one request and one answer.
func (s *service) unary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	c, err := s.begin(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	answer, err := handler(s.arrive(ctx, c), request)
	if err = s.end(c, err); err != nil {
		return nil, err
	}
	if c.fault != nil && c.fault.As.lie != nil {
		c.fault.As.lie(answer)
	}
	return answer, nil
}

// stream answers a call with several of them.
func (s *service) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	c, err := s.begin(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	if c.fault != nil && c.fault.As.lets() {
		faulty := &faultyStream{ServerStream: stream, ctx: s.arrive(stream.Context(), c), left: -1}
		if c.fault.As.cut > 0 {
			faulty.left = c.fault.As.cut
		}
		stream = faulty
	}
	return s.end(c, handler(srv, stream))
}

// do does something to the machine on behalf of a client.
func (s *service) do(ctx context.Context, what func() error) error { return s.carry(ctx, what, false) }

// change is [service.do] of what changes the machine.
func (s *service) change(ctx context.Context, what func() error) error {
	return s.carry(ctx, what, true)
}

func (s *service) carry(ctx context.Context, what func() error, changes bool) (err error) {
	f := s.fleet
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	if s.m.epoch != s.epoch {
		s.m.said = nil
		return s.gone()
	}
	if ctx.Err() != nil {
		return errGone
	}
	etcd := s.m.etcd.cluster != nil
	f.watched(chosen, func() { err = what() })
	f.follow()
	if changes && etcd {
		f.watch.changes++
	}
	return err
}

// Roles of clients, as their certificates name them.
const (
	roleAdmin      = "os:admin"
	roleOperator   = "os:operator"
	roleReader     = "os:reader"
	roleEtcdBackup = "os:etcd:backup"
)

// roles are those of a client: in maintenance mode everybody is a reader.
func (s *service) roles(ctx context.Context) []string {
	p, found := peer.FromContext(ctx)
	if !found {
		return nil
	}
	info, isTLS := p.AuthInfo.(credentials.TLSInfo)
	if !isTLS || len(info.State.PeerCertificates) == 0 {
		return []string{roleReader}
	}
	return info.State.PeerCertificates[0].Subject.Organization
}

func (s *service) admin(ctx context.Context) bool { return slices.Contains(s.roles(ctx), roleAdmin) }

var (
	forReaders   = []string{roleAdmin, roleOperator, roleReader}
	forOperators = []string{roleAdmin, roleOperator}
	forBackups   = []string{roleAdmin, roleOperator, roleReader, roleEtcdBackup}
)

// rules say whose calls are answered; what is not here is for administrators.
// Whether a reader may apply a configuration, the call itself decides.
var rules = map[string][]string{
	"ApplyConfiguration": forReaders, "EtcdMemberList": forBackups, "EtcdStatus": forBackups, "EtcdAlarmList": forBackups,
	"EtcdSnapshot": {roleAdmin, roleOperator, roleEtcdBackup}, "Events": forReaders, "Get": forReaders, "List": forReaders,
	"Reboot": forOperators, "ServiceList": forReaders, "Version": forReaders,
}

// authorize checks the roles of a client.
func (s *service) authorize(ctx context.Context, method string) error {
	allowed := rules[method]
	if allowed == nil {
		allowed = []string{roleAdmin}
	}
	if !slices.ContainsFunc(s.roles(ctx), func(r string) bool { return slices.Contains(allowed, r) }) {
		return errDenied
	}
	return nil
}
