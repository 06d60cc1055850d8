//go:build linux

package node_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/internal/access"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/testenv/patience"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// realClock is for nodes that are real: it waits longer on a busy machine.
var realClock = patience.New()

var patient = node.Patience{Every: 300 * time.Millisecond, Within: 2 * time.Minute}

// signed are credentials that the authority in a machine configuration signs.
func signed(t *testing.T, config secret.String, lifetime time.Duration) node.Credentials {
	t.Helper()
	authorities, err := access.Read("nodes/cp-1.yaml", []byte(config.Reveal()))
	if err != nil {
		t.Fatal(err)
	}
	id, err := authorities.Talos.Sign(access.Subject{Groups: []string{"os:admin"}}, access.Ed25519, lifetime, time.Now(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return node.Credentials{Authority: authorities.Talos.PEM(), Certificate: id.Certificate, Key: id.Key}
}

// TestRealNode takes a real control plane from maintenance mode to a snapshot of
// its etcd, with a configuration that talosgen rendered.
func TestRealNode(t *testing.T) {
	for _, release := range []string{"1.13", "1.14"} {
		t.Run(release, func(t *testing.T) { realNode(t, talosenv.Start(t, talosenv.Options{ControlPlanes: 1, Talos: release})) })
	}
}

func realNode(t *testing.T, cluster *talosenv.Cluster) {
	machine := cluster.ControlPlanes[0]
	target := node.Target{Name: machine.Name, Address: machine.Address.String()}
	config := secret.New(string(cluster.NewRepository(t).MachineConfig(machine)))
	credentials := signed(t, config, time.Hour)

	maintenance(t, target, machine.MAC, config, credentials)

	client, err := node.Connect(target, reach.Direct{}, credentials, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	configured(t, client, target, config)
	bootstrapped(t, client)

	// A certificate that has expired: the node says so.
	old, err := node.Connect(target, reach.Direct{}, signed(t, config, -time.Minute), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	_, err = old.Version(t.Context())
	checkProblem(t, err, diag.Secrets, "the client certificate has expired")
}

// maintenance looks at a node without a configuration, and gives it one.
func maintenance(t *testing.T, target node.Target, mac string, config secret.String, credentials node.Credentials) {
	t.Helper()
	ctx := t.Context()
	client, err := node.Maintenance(target, reach.Direct{}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.WaitStage(ctx, realClock, patient, node.StageMaintenance); err != nil {
		t.Fatal(err)
	}
	hardware, err := client.Hardware(ctx)
	if err != nil || !slices.Contains(hardware.MACs, mac) {
		t.Errorf("the hardware is %+v, %v; want the card %s", hardware, err, mac)
	}
	if _, err := client.Config(ctx); node.Code(err) != codes.PermissionDenied {
		t.Errorf("reading the configuration without a certificate: %v", err)
	}
	if _, err := client.Apply(ctx, secret.New("version: v1alpha1\nmachine: {type: nonsense}\n"), node.Auto); node.Code(err) != codes.InvalidArgument {
		t.Errorf("a bad configuration: %v", err)
	}

	// A certificate says nothing to a node that does not know the authority yet.
	early, err := node.Connect(target, reach.Direct{}, credentials, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	_, err = early.Version(ctx)
	checkProblem(t, err, diag.Secrets, "the node shows a certificate of another authority", "maintenance mode")

	pinned, err := node.Maintenance(target, reach.Direct{}, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	if err != nil {
		t.Fatal(err)
	}
	defer pinned.Close()
	_, err = pinned.Version(ctx)
	checkProblem(t, err, diag.Secrets, "the node shows the key ", "an attacker is in between")

	if _, err := client.Apply(ctx, config, node.Auto); err != nil {
		t.Fatal(err)
	}
}

// configured waits until the node runs, and compares what it has.
func configured(t *testing.T, client *node.Client, target node.Target, config secret.String) {
	t.Helper()
	ctx := t.Context()
	if err := client.WaitStage(ctx, realClock, patient, node.StageBooting); err != nil {
		t.Fatal(err)
	}
	got, err := client.Config(ctx)
	if err != nil || got.Reveal() != config.Reveal() {
		t.Errorf("the configuration differs from what was applied: %v", err)
	}
	if version, err := client.Version(ctx); err != nil || !strings.HasPrefix(version, "v1.") {
		t.Errorf("version %q, %v", version, err)
	}
	if id, err := client.BootID(ctx); err != nil || len(id) != len("00000000-0000-0000-0000-000000000000") {
		t.Errorf("boot id %q, %v", id, err)
	}
	if _, err := client.Apply(ctx, config, node.NoReboot); err != nil {
		t.Errorf("apply again: %v", err)
	}
	services, err := client.Services(ctx)
	if err != nil || !slices.ContainsFunc(services, func(s node.Service) bool { return s.Name == "apid" && s.State == "Running" }) {
		t.Errorf("services %+v, %v", services, err)
	}
	without, err := node.Maintenance(target, reach.Direct{}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer without.Close()
	_, err = without.Version(ctx)
	checkProblem(t, err, diag.Secrets, "the node wants a client certificate")
}

// bootstrapped makes an etcd, and looks at it.
func bootstrapped(t *testing.T, client *node.Client) {
	t.Helper()
	ctx := t.Context()
	wait := func(what string, check func(context.Context) error) {
		t.Helper()
		if err := node.Wait(ctx, realClock, patient, client.Target().Name, what, check); err != nil {
			t.Fatal(err)
		}
	}
	wait("bootstrapped", func(ctx context.Context) error { return client.Bootstrap(ctx, false) })
	wait("a member", func(ctx context.Context) error {
		members, err := client.Members(ctx)
		if err == nil && (len(members) != 1 || members[0].Learner) {
			return node.NotYet("the members are %+v", members)
		}
		return err
	})
	if err := client.WaitStage(ctx, realClock, patient, node.StageRunning); err != nil {
		t.Error(err)
	}
	if err := client.Bootstrap(ctx, false); node.Code(err) != codes.AlreadyExists {
		t.Errorf("a second bootstrap: %v", err)
	}
	status, err := client.EtcdStatus(ctx)
	if err != nil || status.Leader == 0 || status.Leader != status.Member {
		t.Errorf("etcd is %+v, %v", status, err)
	}
	var snapshot bytes.Buffer
	if err := client.Snapshot(ctx, &snapshot); err != nil || snapshot.Len() < int(status.Size) {
		t.Errorf("a snapshot of %d bytes of a database of %d: %v", snapshot.Len(), status.Size, err)
	}
}

// checkProblem wants an error with a code and texts.
func checkProblem(t *testing.T, err error, code diag.Code, texts ...string) {
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
