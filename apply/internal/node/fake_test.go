package node

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/talosgen/talosgen/internal/secret"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func fixedNow() time.Time { return now }

// authority signs certificates of nodes and clients.
type authority struct {
	t           *testing.T
	certificate *x509.Certificate
	key         ed25519.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t}
	a.certificate, a.key = a.sign(&x509.Certificate{
		Subject: pkix.Name{Organization: []string{"talos"}}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}, now)
	return a
}

// sign makes a certificate that is valid for an hour from begin on.
func (a *authority) sign(template *x509.Certificate, begin time.Time) (*x509.Certificate, ed25519.PrivateKey) {
	a.t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	parent, parentKey := a.certificate, a.key
	if parent == nil {
		parent, parentKey = template, key
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(1), begin, begin.Add(time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, parentKey)
	if err != nil {
		a.t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return certificate, key
}

func (a *authority) pem(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// client are credentials that the authority signs, for whom it trusts.
func (a *authority) client(trusts *authority, begin time.Time) Credentials {
	a.t.Helper()
	certificate, key := a.sign(&x509.Certificate{ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, begin)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return Credentials{
		Authority: trusts.pem(trusts.certificate), Certificate: a.pem(certificate),
		Key: secret.New(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))),
	}
}

// fakeNode answers as little of the API of a node as errors take.
type fakeNode struct {
	machine.UnimplementedMachineServiceServer
	version func(context.Context) (*machine.VersionResponse, error)
	data    []string      // what streams bring
	failure string        // what they say at their end
	pull    time.Duration // how long a pull takes that tells nothing meanwhile; givesUp: its time is over for the node first

	resources *fakeResources // may be nil
}

// Version is the call that tests make.
func (f *fakeNode) Version(ctx context.Context, _ *emptypb.Empty) (*machine.VersionResponse, error) {
	return f.version(ctx)
}

// List brings the data as names of files; the failure is the error of one.
func (f *fakeNode) List(_ *machine.ListRequest, stream grpc.ServerStreamingServer[machine.FileInfo]) error {
	for _, name := range f.data {
		if err := stream.Send(&machine.FileInfo{Name: name}); err != nil {
			return err
		}
	}
	if f.failure != "" {
		return stream.Send(&machine.FileInfo{Name: "/var/lib/etcd", Error: f.failure})
	}
	return nil
}

// EtcdSnapshot brings the data.
func (f *fakeNode) EtcdSnapshot(_ *machine.EtcdSnapshotRequest, stream grpc.ServerStreamingServer[common.Data]) error {
	for _, d := range f.data {
		if err := stream.Send(&common.Data{Bytes: []byte(d)}); err != nil {
			return err
		}
	}
	if f.failure != "" {
		//lint:ignore SA1019 nodes of today still say it there
		return stream.Send(&common.Data{Metadata: &common.Metadata{Error: f.failure}})
	}
	return nil
}

// ImagePull is the call of before Talos 1.13.
func (f *fakeNode) ImagePull(ctx context.Context, _ *machine.ImagePullRequest) (*machine.ImagePullResponse, error) {
	if f.pull == givesUp {
		return nil, context.DeadlineExceeded
	}
	select {
	case <-time.After(f.pull):
		return &machine.ImagePullResponse{}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// start serves on loopback with a certificate for the address, and returns where.
// Clients need a certificate of the authority, if there is one.
func (f *fakeNode) start(t *testing.T, shows *authority, template *x509.Certificate, clients *authority) Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.serve(t, l, shows, template, clients)
	return Target{Name: "a", Address: l.Addr().String()}
}

// serve is [fakeNode.start] with a listener.
func (f *fakeNode) serve(t *testing.T, l net.Listener, shows *authority, template *x509.Certificate, clients *authority) {
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	certificate, key := shows.sign(template, now)
	config := &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{certificate.Raw}, PrivateKey: key}}, Time: fixedNow,
	}
	if clients != nil {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		config.ClientCAs.AddCert(clients.certificate)
	}
	server := grpc.NewServer(grpc.Creds(credentials.NewTLS(config)))
	machine.RegisterMachineServiceServer(server, f)
	if f.resources != nil {
		cosi.RegisterStateServer(server, f.resources)
	}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
}

func loopback() *x509.Certificate {
	return &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
}
