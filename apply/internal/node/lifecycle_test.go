package node_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/internal/node"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

const newSystem = "factory.talos.dev/hcloud-installer/376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.14.1"

// running is a control plane with a version of Talos.
func (s *simulated) running(talos string) (*talossim.Machine, *node.Client) {
	s.t.Helper()
	m := s.start(talossim.Spec{Name: "cp", Public: []string{"192.0.2.1"}, Installed: true, Talos: talos})
	bare := s.maintenance("cp", "192.0.2.1")
	s.waitStage(bare, node.StageMaintenance)
	_, err := bare.Apply(s.t.Context(), secret.New(s.cluster.ControlPlane("cp")), node.Auto)
	s.must(err)
	c := s.client("cp", "192.0.2.1")
	s.waitStage(c, node.StageBooting)
	s.must(node.Wait(s.t.Context(), s.fleet.Clock(), simPatience, "cp", "bootstrapped", func(ctx context.Context) error { return c.Bootstrap(ctx, false) }))
	s.waitStage(c, node.StageRunning)
	return m, c
}

// TestLifecycle installs a system and boots it: by the calls of 1.13, and by those of
// before.
func TestLifecycle(t *testing.T) {
	for _, talos := range []string{"v1.12.11", "v1.13.9"} {
		s := simulate(t)
		_, c := s.running(talos)
		ctx := t.Context()
		name, err := c.Pull(ctx, newSystem)
		s.must(err)
		images, err := c.Images(ctx)
		s.must(err)
		for _, stored := range []string{newSystem, name} {
			if !slices.Contains(images, node.Image{Name: stored, Size: 200 << 20}) {
				t.Errorf("%s: the images are %v, without %s", talos, images, stored)
			}
		}
		if busy, err := c.Installing(ctx); busy || err != nil {
			t.Errorf("%s: installing %v, %v", talos, busy, err)
		}
		before, err := c.BootID(ctx)
		s.must(err)
		if talos == "v1.12.11" {
			_, err = c.Install(ctx, name, func(string) {})
			if node.Code(err) != codes.Unimplemented {
				t.Errorf("%s: install: %v", talos, err)
			}
			s.must(c.Upgrade(ctx, newSystem, ""))
		} else {
			code, err := c.Install(ctx, name, func(string) {})
			if s.must(err); code != 0 {
				t.Errorf("exit code %d", code)
			}
			s.must(c.Reboot(ctx, ""))
		}
		s.must(c.WaitReboot(ctx, s.fleet.Clock(), simPatience, before))
		version, err := c.Version(ctx)
		s.must(err)
		_, schematic, err := c.Extensions(ctx)
		if s.must(err); version != "v1.14.1" || len(schematic) != 64 {
			t.Errorf("%s: it runs %s with schematic %q", talos, version, schematic)
		}
	}
}

// TestInstallOutcomes: an exit code is no error, and a lost answer is no outcome.
func TestInstallOutcomes(t *testing.T) {
	s := simulate(t)
	m, c := s.running("v1.14.0")
	name, err := c.Pull(t.Context(), newSystem)
	s.must(err)
	m.FailInstall(5)
	if code, err := c.Install(t.Context(), name, func(string) {}); code != 5 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	s.fleet.Inject(talossim.Fault{Method: "Upgrade", As: talossim.CutAfter(1)})
	if code, err := c.Install(t.Context(), name, func(string) {}); err == nil {
		t.Errorf("exit code %d of an answer that was lost", code)
	}
	if busy, err := c.Installing(t.Context()); !busy || err != nil {
		t.Errorf("installing %v, %v", busy, err)
	}
	s.must(s.fleet.Clock().Sleep(t.Context(), 5*time.Minute))
	if busy, err := c.Installing(t.Context()); busy || err != nil {
		t.Errorf("afterwards: installing %v, %v", busy, err)
	}
}
