package node

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/apply/reach/reachtest"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
)

// answers gives a version, or an error.
func answers(err error) *fakeNode {
	return &fakeNode{version: func(context.Context) (*machine.VersionResponse, error) {
		if err != nil {
			return nil, err
		}
		return &machine.VersionResponse{Messages: []*machine.Version{{Version: &machine.VersionInfo{Tag: "v1.14.1"}}}}, nil
	}}
}

func connect(t *testing.T, target Target, c Credentials) *Client {
	t.Helper()
	client, err := Connect(target, reach.Direct{}, c, fixedNow)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestConnect(t *testing.T) {
	a := newAuthority(t)
	client := connect(t, answers(nil).start(t, a, loopback(), a), a.client(a, now))
	if version, err := client.Version(t.Context()); version != "v1.14.1" || err != nil {
		t.Errorf("got %q, %v", version, err)
	}
}

// TestThroughJump: calls go through a bastion, and find a new way when it was
// rebooted.
func TestThroughJump(t *testing.T) {
	s := reachtest.Start(t)
	jump, err := reach.NewJump(reach.Bastion{Name: "gw", Address: s.Address, User: "root", HostKey: s.KnownHost(), Signers: s.Signers}, reach.Direct{})
	if err != nil {
		t.Fatal(err)
	}
	defer jump.Close()
	a := newAuthority(t)
	client, err := Connect(answers(nil).start(t, a, loopback(), a), jump, a.client(a, now), fixedNow)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range 2 {
		err := Wait(t.Context(), eagerClock{}, Patience{Within: time.Minute}, "a", "reached", func(ctx context.Context) error {
			_, err := client.Version(ctx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Kill()
	}
	if s.Connections() != 2 {
		t.Errorf("%d SSH connections", s.Connections())
	}
}

// eagerClock stands still, and gives way to what else is to be done.
type eagerClock struct{}

func (eagerClock) Now() time.Time { return now }

func (eagerClock) Sleep(ctx context.Context, _ time.Duration) error {
	runtime.Gosched()
	return ctx.Err()
}

func TestConnectionErrors(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	nowhere := Target{Name: "a", Address: "127.0.0.1:1"}
	for _, tt := range []struct {
		name   string
		target Target
		shows  Credentials
		code   diag.Code
		want   []string
	}{
		{"nobody there", nowhere, a.client(a, now), diag.Remote,
			[]string{"node a: read its version: 127.0.0.1:1: refuses connections", "still starting"}},
		{"the node is of another cluster", answers(nil).start(t, other, loopback(), a), a.client(a, now), diag.Secrets,
			[]string{"the node shows a certificate of another authority", "in maintenance mode, or belongs to another cluster"}},
		{"the client is of another cluster", answers(nil).start(t, a, loopback(), a), other.client(a, now), diag.Secrets,
			[]string{"the node does not accept the client certificate", "secrets of the environment were changed"}},
		{"the client has expired", answers(nil).start(t, a, loopback(), a), a.client(a, now.Add(-2*time.Hour)), diag.Secrets,
			[]string{"the client certificate has expired", "clock"}},
		{"another address", answers(nil).start(t, a, &x509.Certificate{DNSNames: []string{"elsewhere"}}, a), a.client(a, now), diag.Secrets,
			[]string{"the node's certificate does not hold 127.0.0.1", "certSANs"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := connect(t, tt.target, tt.shows).Version(t.Context())
			checkError(t, err, tt.code, tt.want...)
			if want := strings.Contains(tt.name, "the node is of another"); OtherAuthority(err) != want {
				t.Errorf("of another authority: %v", !want)
			}
		})
	}
}

// transport reaches nothing.
type transport struct{ err error }

func (t transport) Dial(context.Context, string) (net.Conn, error) { return nil, t.err }

// TestSilent: a node that boots does not answer. What is wrong with the way to it,
// or with who is there, is another thing.
func TestSilent(t *testing.T) {
	a := newAuthority(t)
	hangsUp := Target{Name: "a", Address: reachtest.Listen(t, func(c net.Conn) { _ = c.Close() })}
	at := Target{Name: "a", Address: "192.0.2.1"}
	for _, tt := range []struct {
		name    string
		target  Target
		through reach.Transport
		want    bool
	}{
		{"nobody there", Target{Name: "a", Address: "127.0.0.1:1"}, reach.Direct{}, true},
		{"hangs up", hangsUp, reach.Direct{}, true},
		{"the proxy does not reach it", at, transport{diag.On("192.0.2.1:50000", "the proxy says 502 Bad Gateway").WithCode(diag.Remote)}, true},
		{"nobody knows the name", at, transport{diag.On("192.0.2.1:50000", "no such host").WithCode(diag.Remote).WithCause(&net.DNSError{})}, false},
		{"the gateway is not reached", at, transport{diag.On("server gateway", "does not answer").WithCode(diag.Remote)}, false},
		{"the gateway is another server", at, transport{diag.On("server gateway", "shows another key").WithCode(diag.Secrets)}, false},
		{"of another cluster", answers(nil).start(t, newAuthority(t), loopback(), a), reach.Direct{}, false},
		{"no such call", answers(status.Error(codes.Unimplemented, "no")).start(t, a, loopback(), a), reach.Direct{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, err := Connect(tt.target, tt.through, a.client(a, now), fixedNow)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if _, err := client.Version(t.Context()); err == nil || Silent(err) != tt.want {
				t.Errorf("silent: %v, of %v", !tt.want, err)
			}
		})
	}
}

func TestMaintenance(t *testing.T) {
	a := newAuthority(t)
	target := answers(nil).start(t, a, loopback(), nil)
	for _, tt := range []struct {
		name, fingerprint string
		target            Target
		want              string
	}{
		{"anybody", "", target, ""},
		{"another key", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", target, "the node shows the key "},
		{"configured already", "", answers(nil).start(t, a, loopback(), a), "the node wants a client certificate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, err := Maintenance(tt.target, reach.Direct{}, tt.fingerprint)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			_, err = client.Version(t.Context())
			if tt.want == "" && err != nil || tt.want != "" {
				if tt.want == "" {
					t.Fatal(err)
				}
				checkError(t, err, diag.Secrets, tt.want)
			}
		})
	}
	if _, err := Maintenance(target, reach.Direct{}, "nonsense"); diag.CodeOf(err) != diag.Input {
		t.Errorf("a bad fingerprint: %v", err)
	}
}

func TestAnswers(t *testing.T) {
	a := newAuthority(t)
	for _, tt := range []struct {
		name string
		says error
		code codes.Code
		want []string
	}{
		{"denied", status.Error(codes.PermissionDenied, "not authorized"), codes.PermissionDenied, []string{"node a: read its version: not authorized", "role of the client certificate"}},
		{"not here", status.Error(codes.Unimplemented, "API is not implemented in maintenance mode"), codes.Unimplemented, []string{"cannot do it"}},
		{"of several lines", status.Error(codes.InvalidArgument, "2 errors occurred:\n\t* no disk\n\t* no type\n\n"), codes.InvalidArgument, []string{"read its version: no disk; no type"}},
		{"too late", status.Error(codes.DeadlineExceeded, "context deadline exceeded"), codes.DeadlineExceeded, []string{"no answer in time", "dmesg"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := connect(t, answers(tt.says).start(t, a, loopback(), a), a.client(a, now)).Version(t.Context())
			if Code(err) != tt.code {
				t.Errorf("the code is %v", Code(err))
			}
			checkError(t, err, diag.Remote, tt.want...)
		})
	}
}

// TestInterrupted: a node that says nothing holds nobody up.
func TestInterrupted(t *testing.T) {
	a := newAuthority(t)
	ctx, cancel := context.WithCancel(t.Context())
	silent := &fakeNode{version: func(ctx context.Context) (*machine.VersionResponse, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	_, err := connect(t, silent.start(t, a, loopback(), a), a.client(a, now)).Version(ctx)
	checkError(t, err, diag.Remote, "read its version: interrupted")
}

func TestStreams(t *testing.T) {
	a := newAuthority(t)
	node := answers(nil)
	node.data = []string{"snap", "shot"}
	client := connect(t, node.start(t, a, loopback(), a), a.client(a, now))
	var got bytes.Buffer
	if err := client.Snapshot(t.Context(), &got); err != nil || got.String() != "snapshot" {
		t.Errorf("got %q, %v", got.String(), err)
	}
	// Half a snapshot must not look like a whole one.
	broken := answers(nil)
	broken.data, broken.failure = []string{"snap"}, "etcd went away"
	err := connect(t, broken.start(t, a, loopback(), a), a.client(a, now)).Snapshot(t.Context(), &got)
	checkError(t, err, diag.Remote, "node a: take a snapshot of etcd: etcd went away")
}

// TestCredentialsTellNothing: a key that cannot be read is not quoted.
func TestCredentialsTellNothing(t *testing.T) {
	const canary = "qzxkanarivogl95token"
	_, err := Connect(Target{Name: "a", Address: "127.0.0.1"}, reach.Direct{}, Credentials{Key: secret.New(canary)}, fixedNow)
	checkError(t, err, diag.Secrets, "node a: the client certificate, its key or the authority cannot be read")
	if strings.Contains(err.Error(), canary) {
		t.Error("the key is in the error")
	}
}

func TestAddress(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1": "192.0.2.1:50000", "2001:db8::1": "[2001:db8::1]:50000", "192.0.2.1:1": "192.0.2.1:1", "node.example.com": "node.example.com:50000",
	} {
		if got := (Target{Address: in}).address(); got != want {
			t.Errorf("%s became %s", in, got)
		}
	}
}

// checkError wants an error with an exit code and texts.
func checkError(t *testing.T, err error, code diag.Code, texts ...string) {
	t.Helper()
	if diag.CodeOf(err) != code {
		t.Errorf("exit code %d of %v, want %d", diag.CodeOf(err), err, code)
	}
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v does not say %q", err, text)
		}
	}
}

// TestNodeShowsItsConfiguration: what Talos 1.13 says of a change that needs a
// reboot has lines of the configuration that it has, with its secrets.
func TestNodeShowsItsConfiguration(t *testing.T) {
	a := newAuthority(t)
	said := status.Error(codes.InvalidArgument, "this config change can't be applied in immediate mode\ndiff:\n--- a\n+++ b\n cluster:\n     secret: canary-m1NQzZQI4hNN\n")
	_, err := connect(t, answers(said).start(t, a, loopback(), a), a.client(a, now)).Version(t.Context())
	checkError(t, err, diag.Remote, "can't be applied in immediate mode", "reboot")
	for e := err; e != nil; e = errors.Unwrap(e) {
		if text := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(text, "canary") {
			t.Errorf("the error shows a secret: %s", text)
		}
	}
	if Code(err) != codes.InvalidArgument {
		t.Errorf("code %v", Code(err))
	}
}
