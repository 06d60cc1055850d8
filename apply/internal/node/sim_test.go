package node_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/sim/talossim/simtest"
)

// simulated is a cluster of simulated nodes, and clients for it.
type simulated struct {
	t       *testing.T
	fleet   *talossim.Fleet
	cluster *simtest.Cluster
}

func simulate(t *testing.T) *simulated {
	t.Helper()
	s := &simulated{t, talossim.New(talossim.Options{Random: rand.Reader}), simtest.NewCluster(t, "demo")}
	t.Cleanup(func() {
		s.fleet.Close()
		for _, v := range s.fleet.Violations() {
			t.Error(v)
		}
	})
	return s
}

// start adds a machine and switches it on.
func (s *simulated) start(spec talossim.Spec) *talossim.Machine {
	m := s.fleet.Add(spec)
	m.PowerOn()
	return m
}

func (s *simulated) maintenance(name, address string) *node.Client {
	s.t.Helper()
	c, err := node.Maintenance(node.Target{Name: name, Address: address}, s.fleet, "")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *simulated) client(name, address string, roles ...string) *node.Client {
	s.t.Helper()
	certificate, key := s.cluster.Sign(s.fleet.Clock().Now().Add(-time.Minute), append(roles, "os:admin")[0])
	c, err := node.Connect(node.Target{Name: name, Address: address}, s.fleet,
		node.Credentials{Authority: s.cluster.Authority(), Certificate: certificate, Key: secret.New(string(key))}, s.fleet.Clock().Now)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

var simPatience = node.Patience{Every: time.Second, Within: 5 * time.Minute}

func (s *simulated) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *simulated) waitStage(c *node.Client, stages ...string) {
	s.t.Helper()
	s.must(c.WaitStage(s.t.Context(), s.fleet.Clock(), simPatience, stages...))
}

// TestSimulatedNode takes a simulated control plane from maintenance mode
// through its installation to a snapshot of its etcd and a reboot.
func TestSimulatedNode(t *testing.T) {
	s := simulate(t)
	ctx := t.Context()
	s.start(talossim.Spec{Name: "cp-1", Public: []string{"192.0.2.1"}})
	before := s.maintenance("cp-1", "192.0.2.1")
	s.waitStage(before, node.StageMaintenance)
	_, err := before.Apply(ctx, secret.New(s.cluster.ControlPlane("cp-1")), node.Auto)
	s.must(err)

	c := s.client("cp-1", "192.0.2.1")
	s.waitStage(c, "installing")
	first, err := c.BootID(ctx)
	s.must(err)
	s.waitStage(c, node.StageBooting)
	if id, err := c.BootID(ctx); err != nil || id == first {
		t.Errorf("installed without a reboot: %v", err)
	}
	s.must(node.Wait(ctx, s.fleet.Clock(), simPatience, "cp-1", "bootstrapped", func(ctx context.Context) error { return c.Bootstrap(ctx, false) }))
	s.waitStage(c, node.StageRunning)
	if err := c.Bootstrap(ctx, false); node.Code(err) != codes.AlreadyExists {
		t.Errorf("a second bootstrap: %v", err)
	}
	var snapshot bytes.Buffer
	s.must(c.Snapshot(ctx, &snapshot))

	id, err := c.BootID(ctx)
	s.must(err)
	s.must(c.Reboot(ctx, ""))
	s.must(c.WaitReboot(ctx, s.fleet.Clock(), simPatience, id))
	members, err := c.Members(ctx)
	if err != nil || len(members) != 1 || members[0].Hostname != "cp-1" || members[0].Learner {
		t.Errorf("members %+v, %v", members, err)
	}
}
