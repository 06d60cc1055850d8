//go:build linux

package node_test

import (
	"context"
	"crypto/rand"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/apply/reach"
	"github.com/talosgen/talosgen/apply/reach/reachtest"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sshkey"
	"github.com/talosgen/talosgen/testenv/talosenv"
)

// TestRealJump reaches a node that only a gateway reaches: with no
// configuration, and with one.
func TestRealJump(t *testing.T) {
	cluster := talosenv.Start(t, talosenv.Options{ControlPlanes: 1, Bastion: true})
	machine := cluster.ControlPlanes[0]
	target := node.Target{Name: machine.Name, Address: machine.Address.String()}
	hostKey, user := newHostKey(t), reachtest.NewSigner(t)
	server := talosenv.Bastion{Address: cluster.Public().Addr().Next().Next(), HostKey: hostKey.Reveal(),
		Authorized: []string{string(ssh.MarshalAuthorizedKey(user.PublicKey()))}}
	if err := cluster.StartBastion(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	address := netip.AddrPortFrom(server.Address, 22).String()
	bastion := reach.Bastion{Name: "gateway", Address: address, User: "root", HostKey: public(t, hostKey), Signers: signers(user)}

	if _, err := status(t, target, reach.Direct{}, 2*time.Second); err == nil {
		t.Fatal("this machine reaches the node by itself")
	}

	other := bastion
	other.HostKey = public(t, newHostKey(t))
	_, err := status(t, target, newJump(t, other), time.Minute)
	checkProblem(t, err, diag.Secrets, "server gateway ("+address+")", "shows the host key SHA256:", "an attacker is in between")

	other = bastion
	other.Signers = signers(reachtest.NewSigner(t))
	_, err = status(t, target, newJump(t, other), time.Minute)
	checkProblem(t, err, diag.Secrets, "accepts none of your SSH keys for user root")

	jump := newJump(t, bastion)
	config := secret.New(string(cluster.NewRepository(t).MachineConfig(machine)))
	throughMaintenance(t, target, jump, config)

	client, err := node.Connect(target, jump, signed(t, config, time.Hour), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.WaitStage(t.Context(), realClock, patient, node.StageBooting); err != nil {
		t.Fatal(err)
	}
	if got, err := client.Config(t.Context()); err != nil || got.Reveal() != config.Reveal() {
		t.Errorf("the configuration differs from what was applied: %v", err)
	}

	restarted(t, cluster, client, server)

	// A port that nothing listens on: the gateway says so.
	_, err = jump.Dial(t.Context(), machine.Address.String()+":1")
	checkProblem(t, err, diag.Remote, "cannot be reached from gateway")
}

// throughMaintenance hands a node its configuration.
func throughMaintenance(t *testing.T, target node.Target, jump *reach.Jump, config secret.String) {
	t.Helper()
	if s, err := status(t, target, jump, time.Minute); err != nil || s.Stage != node.StageMaintenance {
		t.Fatalf("the node is %+v, %v", s, err)
	}
	client, err := node.Maintenance(target, jump, "")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Apply(t.Context(), config, node.Auto); err != nil {
		t.Fatal(err)
	}
}

// restarted ends the SSH server under a client, which goes on when there is
// another one.
func restarted(t *testing.T, cluster *talosenv.Cluster, client *node.Client, server talosenv.Bastion) {
	t.Helper()
	if err := cluster.StopBastion(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Version(t.Context()); node.Code(err).String() != "Unavailable" {
		t.Errorf("without a gateway: %v", err)
	}
	if err := cluster.StartBastion(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	err := node.Wait(t.Context(), realClock, patient, client.Target().Name, "reached again", func(ctx context.Context) error {
		_, err := client.Version(ctx)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// status asks a node in maintenance mode for its stage.
func status(t *testing.T, target node.Target, through reach.Transport, within time.Duration) (node.Status, error) {
	t.Helper()
	client, err := node.Maintenance(target, through, "")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	return client.Status(ctx)
}

func newJump(t *testing.T, b reach.Bastion) *reach.Jump {
	t.Helper()
	jump, err := reach.NewJump(b, reach.Direct{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = jump.Close() })
	return jump
}

// newHostKey is a host key as a rendered tree has one for the gateway.
func newHostKey(t *testing.T) secret.String {
	t.Helper()
	key, err := sshkey.New(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func public(t *testing.T, key secret.String) string {
	t.Helper()
	line, err := sshkey.Public(key)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

func signers(s ssh.Signer) func() ([]ssh.Signer, error) {
	return func() ([]ssh.Signer, error) { return []ssh.Signer{s}, nil }
}
