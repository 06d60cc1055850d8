package talossim

import (
	"context"
	"fmt"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/talosgen/talosgen/internal/versions"
)

// lifecycle is the LifecycleService, which Talos has since 1.13: it installs a new
// system beside the one that runs, and leaves reboots to its client.
type lifecycle struct {
	machine.UnimplementedLifecycleServiceServer

	*service
}

// installer is one that runs, or has run in this boot.
type installer struct {
	done bool
	code int32
}

// busy reports whether an installer runs.
func (m *Machine) busy() bool { return m.installer != nil && !m.installer.done }

// FailInstall lets the next installer end with an exit code. What it would have replaced
// is lost if it fails by a code of one that has begun to write.
func (m *Machine) FailInstall(code int32) {
	m.fleet.change(byItself, func() { m.failing = code })
}

// Install is refused: the machine has Talos on its disk.
func (s *lifecycle) Install(_ *machine.LifecycleServiceInstallRequest, stream grpc.ServerStreamingServer[machine.LifecycleServiceInstallResponse]) error {
	return s.do(stream.Context(), func() error {
		if err := s.m.lacks("LifecycleService"); err != nil {
			return err
		}
		return status.Error(codes.FailedPrecondition, "talos is already installed")
	})
}

// Upgrade runs an installer. It goes on when its client goes away.
func (s *lifecycle) Upgrade(in *machine.LifecycleServiceUpgradeRequest, stream grpc.ServerStreamingServer[machine.LifecycleServiceUpgradeResponse]) error {
	name := in.GetSource().GetImageName()
	var run *installer
	err := s.change(stream.Context(), func() (err error) {
		run, err = s.m.runInstaller(name)
		return err
	})
	if err != nil {
		return err
	}
	for _, text := range []string{"running Talos installer " + name, "running pre-flight checks"} {
		p := &machine.LifecycleServiceInstallProgress{Response: &machine.LifecycleServiceInstallProgress_Message{Message: text}}
		if err := stream.Send(&machine.LifecycleServiceUpgradeResponse{Progress: p}); err != nil {
			return err
		}
	}
	code, err := s.outcome(stream.Context(), run)
	if err != nil {
		return err
	}
	p := &machine.LifecycleServiceInstallProgress{Response: &machine.LifecycleServiceInstallProgress_ExitCode{ExitCode: code}}
	return stream.Send(&machine.LifecycleServiceUpgradeResponse{Progress: p})
}

// outcome waits for an installer.
func (s *service) outcome(ctx context.Context, run *installer) (code int32, err error) {
	for done := false; !done && err == nil; {
		if s.fleet.clock.Sleep(ctx, s.fleet.timing.Install) != nil {
			return 0, errGone
		}
		err = s.do(ctx, func() error { done, code = run.done, run.code; return nil })
	}
	return code, err
}

// runInstaller begins an installation. The order of its checks is that of Talos: a
// call without an image asks whether an installer runs, and does nothing.
func (m *Machine) runInstaller(name string) (*installer, error) {
	if err := m.lacks("LifecycleService"); err != nil {
		return nil, err
	}
	if m.busy() {
		return nil, status.Error(codes.FailedPrecondition, "another installation/upgrade is already in progress")
	}
	if !m.installed {
		return nil, status.Error(codes.FailedPrecondition, "talos is not installed")
	}
	if name == "" {
		return nil, status.Error(codes.InvalidArgument, "image name is required")
	}
	if !slices.Contains(m.stored(common.ContainerdNamespace_NS_SYSTEM), name) {
		return nil, status.Errorf(codes.NotFound, "image %q: not found", name)
	}
	system, err := systemOf(m.images[name].reference)
	if err != nil {
		return nil, status.Error(codes.NotFound, err.Error())
	}
	run := &installer{}
	m.installer = run
	m.after(m.fleet.timing.Install, func() { run.done, run.code = true, m.runs(system) })
	return run, nil
}

// Exit codes of installers since 1.14; older ones know one. With these nothing has been
// written.
const (
	codeAny         = 1
	codeInput       = 2
	codeEnvironment = 4
)

// runs is an installer to its end, which is its exit code.
func (m *Machine) runs(system System) int32 {
	code := m.failing
	m.failing = 0
	switch {
	case code == 0:
		m.write(system)
	case code < codeInput || code > codeEnvironment:
		m.spoil(system)
	}
	if code != 0 && versions.Minor(system.Talos) < firstCodes {
		return codeAny
	}
	return code
}

// firstCodes is the first minor of Talos whose installer has exit codes.
const firstCodes = 14

// Upgrade is the call of before 1.13: it stops what runs, installs and reboots.
func (s *service) Upgrade(ctx context.Context, in *machine.UpgradeRequest) (r *machine.UpgradeResponse, err error) {
	err = s.change(ctx, func() error {
		system, err := systemOf(in.GetImage())
		if err != nil {
			return status.Error(codes.InvalidArgument, fmt.Sprintf("error validating installer image %q: %s", in.GetImage(), err))
		}
		unchecked := in.GetForce() || in.GetPreserve() && s.m.minor() >= firstLifecycle
		if reason := s.m.cannotUpgrade(); reason != "" && !unchecked {
			return status.Error(codes.FailedPrecondition, reason)
		}
		if s.m.leaving() || s.m.busy() {
			return status.Error(codes.FailedPrecondition, "another installation/upgrade is already in progress")
		}
		actor := s.m.fleet.newUUID("actor")
		s.m.actor = actor
		s.m.reboots = append(s.m.reboots, in.GetRebootMode().String())
		s.m.upgrade(system)
		r = &machine.UpgradeResponse{Messages: []*machine.Upgrade{{Ack: "Upgrade request received", ActorId: actor}}}
		return nil
	})
	return r, err
}

// cannotUpgrade is what the server checks of etcd; empty if it lets the machine go.
func (m *Machine) cannotUpgrade() string {
	if !m.controlPlane() || m.etcd.cluster == nil {
		return ""
	}
	c := m.etcd.cluster
	if len(c.members) == 2 {
		return "etcd member count(2) is insufficient to maintain quorum if upgrade commences"
	}
	for _, o := range c.members {
		if !o.healthy(c) {
			return fmt.Sprintf("etcd member %016x is not healthy; all members must be healthy to perform an upgrade", o.id)
		}
	}
	return ""
}

// upgrade stops, installs and reboots; an installer that fails leaves the system that
// runs, in the same boot.
func (m *Machine) upgrade(system System) {
	m.goDown(stageUpgrading, func() {
		m.after(m.fleet.timing.Install, func() {
			if m.runs(system) != 0 {
				m.run = etcdRun{}
				m.configured(m.active)
				return
			}
			m.boot()
		})
	})
}
