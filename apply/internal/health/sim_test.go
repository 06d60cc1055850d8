package health_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/apply/internal/health"
	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/internal/sim/talossim/simtest"
)

// simulation is a cluster of simulated nodes, looked at through their API.
type simulation struct {
	t       *testing.T
	fleet   *talossim.Fleet
	cluster *simtest.Cluster
	clients map[string]*node.Client
	targets []health.Target
	silent  error // of the Kubernetes API
}

var patience = node.Patience{Every: time.Second, Within: 5 * time.Minute}

// simulate starts and configures machines: those with a name like cp-1 as
// control planes.
func simulate(t *testing.T, names ...string) *simulation {
	t.Helper()
	s := &simulation{t: t, fleet: talossim.New(talossim.Options{Random: rand.Reader}), cluster: simtest.NewCluster(t, "demo"), clients: map[string]*node.Client{}}
	t.Cleanup(func() {
		s.fleet.Close()
		for _, v := range s.fleet.Violations() {
			t.Error(v)
		}
	})
	for i, name := range names {
		target := node.Target{Name: name, Address: fmt.Sprintf("192.0.2.%d", i+1)}
		s.fleet.Add(talossim.Spec{Name: name, Public: []string{target.Address}}).PowerOn()
		s.configure(target, strings.HasPrefix(name, "cp"))
	}
	return s
}

func (s *simulation) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *simulation) configure(target node.Target, plane bool) {
	ctx, text := s.t.Context(), s.cluster.Worker(target.Name)
	if plane {
		text = s.cluster.ControlPlane(target.Name)
	}
	bare, err := node.Maintenance(target, s.fleet, "")
	s.must(err)
	defer bare.Close()
	s.must(bare.WaitStage(ctx, s.fleet.Clock(), patience, node.StageMaintenance))
	_, err = bare.Apply(ctx, secret.New(text), node.Auto)
	s.must(err)
	certificate, key := s.cluster.Sign(s.fleet.Clock().Now().Add(-time.Minute), "os:admin")
	c, err := node.Connect(target, s.fleet, node.Credentials{
		Authority: s.cluster.Authority(), Certificate: certificate, Key: secret.New(string(key))}, s.fleet.Clock().Now)
	s.must(err)
	s.t.Cleanup(func() { _ = c.Close() })
	s.clients[target.Name] = c
	s.targets = append(s.targets, health.Target{Name: target.Name, ControlPlane: plane, Source: c})
}

func (s *simulation) collect(ctx context.Context) health.Facts {
	return health.Collector{Targets: s.targets, Kubernetes: func(context.Context) (nodes []health.KubeNode, err error) {
		for _, t := range s.targets {
			nodes = append(nodes, health.KubeNode{Name: t.Name, Ready: true})
		}
		return nodes, s.silent
	}}.Collect(ctx)
}

func (s *simulation) guard() *health.Guard {
	return &health.Guard{Collect: s.collect, Clock: s.fleet.Clock(), Patience: patience, Settle: time.Minute}
}

// failures are what fails now, in one line.
func (s *simulation) failures(except ...string) string {
	var lines []string
	for _, r := range health.Check(s.collect(s.t.Context()), except...).Failures() {
		lines = append(lines, r.String())
	}
	return strings.Join(lines, "\n")
}

// TestSimulated looks at simulated nodes before there is an etcd, when all is
// well, while one reboots, and when one is lost.
func TestSimulated(t *testing.T) {
	s := simulate(t, "cp-1", "cp-2", "cp-3", "w-1")
	ctx, clock := t.Context(), s.fleet.Clock()
	s.must(s.clients["cp-1"].WaitStage(ctx, clock, patience, node.StageBooting))
	s.silent = errors.New("refuses connections")
	if got := s.failures(); !strings.Contains(got, "etcd quorum: no control plane can be asked: cp-1: node cp-1: its etcd is ") {
		t.Errorf("before it is bootstrapped:\n%s", got)
	}
	s.must(node.Wait(ctx, clock, patience, "cp-1", "bootstrapped", func(ctx context.Context) error { return s.clients["cp-1"].Bootstrap(ctx, false) }))
	s.silent = nil
	g := s.guard()
	s.must(g.Before(ctx))
	if got := s.failures(); got != "" {
		t.Errorf("bootstrapped:\n%s", got)
	}

	boot, err := s.clients["cp-2"].BootID(ctx)
	s.must(err)
	s.must(s.clients["cp-2"].Reboot(ctx, ""))
	s.must(g.After(ctx, "cp-2"))
	again, err := s.clients["cp-2"].BootID(ctx)
	if err != nil || again == boot {
		t.Errorf("well before it went down: %v", err)
	}

	s.fleet.Machine("cp-3").PowerOff()
	if got := s.failures("cp-3"); got != "" {
		t.Errorf("with one lost that does not count:\n%s", got)
	}
	if got := s.failures(); !strings.HasPrefix(got, "node reached: cp-3: ") {
		t.Errorf("with one lost:\n%s", got)
	}
	s.fleet.Machine("cp-2").PowerOff()
	if got := s.failures("cp-2", "cp-3"); !strings.Contains(got, "etcd") {
		t.Errorf("with two of three lost:\n%s", got)
	}
}
