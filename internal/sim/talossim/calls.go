package talossim

import (
	"cmp"
	"context"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Version answers as the Talos that the machine runs.
func (s *service) Version(ctx context.Context, _ *emptypb.Empty) (r *machine.VersionResponse, err error) {
	err = s.do(ctx, func() error {
		v := &machine.Version{Version: &machine.VersionInfo{Tag: s.m.spec.Talos}, Platform: &machine.PlatformInfo{Name: cmp.Or(s.m.spec.Platform, "metal"), Mode: "metal"}}
		if s.m.active != nil {
			v.Features = &machine.FeaturesInfo{Rbac: true}
		}
		r = &machine.VersionResponse{Messages: []*machine.Version{v}}
		return nil
	})
	return r, err
}

const bootIDPath = "/proc/sys/kernel/random/boot_id"

// Read knows one file: that with the boot id.
func (s *service) Read(r *machine.ReadRequest, stream grpc.ServerStreamingServer[common.Data]) error {
	var id string
	err := s.do(stream.Context(), func() error {
		if id = s.m.bootID; r.GetPath() != bootIDPath {
			return status.Errorf(codes.NotFound, "stat %s: no such file or directory", r.GetPath())
		}
		return nil
	})
	if err != nil {
		return err
	}
	return stream.Send(&common.Data{Bytes: []byte(id + "\n")})
}

// Reboot begins a reboot.
func (s *service) Reboot(ctx context.Context, in *machine.RebootRequest) (r *machine.RebootResponse, err error) {
	err = s.change(ctx, func() error {
		actor := s.m.fleet.newUUID("actor")
		r = &machine.RebootResponse{Messages: []*machine.Reboot{{ActorId: actor}}}
		if s.m.leaving() {
			return nil // the second one waits for the first, and is lost with it
		}
		s.m.actor = actor
		s.m.reboots = append(s.m.reboots, in.GetMode().String())
		s.m.goDown(stageRebooting, s.m.boot)
		return nil
	})
	return r, err
}

// Reset begins to wipe the machine.
func (s *service) Reset(ctx context.Context, in *machine.ResetRequest) (r *machine.ResetResponse, err error) {
	err = s.change(ctx, func() error {
		actor := s.m.fleet.newUUID("actor")
		r = &machine.ResetResponse{Messages: []*machine.Reset{{ActorId: actor}}}
		if s.m.leaving() {
			return nil
		}
		s.m.actor = actor
		return s.m.reset(in.GetGraceful(), in.GetReboot(), len(in.GetSystemPartitionsToWipe()) > 0)
	})
	return r, err
}

// reset leaves etcd, if it is to be done gracefully, and wipes the machine. If
// etcd does not let it go, nothing more happens. If only partitions are named, it
// forgets what is on them, and Talos stays.
func (m *Machine) reset(graceful, reboot, partitions bool) error {
	if graceful && m.controlPlane() && m.etcd.cluster != nil && m.leave() != "" {
		return nil // the sequence fails, and whoever waits sees no other stage
	}
	m.goDown(stageResetting, func() {
		if partitions {
			m.persisted = nil
			m.dropData()
		} else {
			m.wipe()
		}
		if reboot {
			m.boot()
		} else {
			m.powerOff()
		}
	})
	return nil
}

// ApplyConfiguration takes a configuration.
func (s *service) ApplyConfiguration(ctx context.Context, in *machine.ApplyConfigurationRequest) (r *machine.ApplyConfigurationResponse, err error) {
	admin := s.admin(ctx)
	err = s.change(ctx, func() error {
		if s.m.active != nil && !admin {
			return errDenied
		}
		if s.m.leaving() {
			return status.Error(codes.FailedPrecondition, "configuration was already applied and node is rebooting, cannot apply more configuration changes until next reboot")
		}
		answer, err := s.m.apply(in)
		r = &machine.ApplyConfigurationResponse{Messages: []*machine.ApplyConfiguration{answer}}
		return err
	})
	return r, err
}

// Modes of applying a configuration.
const (
	auto     = machine.ApplyConfigurationRequest_AUTO
	noReboot = machine.ApplyConfigurationRequest_NO_REBOOT
	staged   = machine.ApplyConfigurationRequest_STAGED
	//lint:ignore SA1019 nodes of today still take it
	reboot = machine.ApplyConfigurationRequest_REBOOT
)

func (m *Machine) apply(in *machine.ApplyConfigurationRequest) (*machine.ApplyConfiguration, error) {
	c, err := parseConfig(in.GetData())
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	if m.active != nil && !c.complete() {
		return nil, status.Error(codes.InvalidArgument, "the applied machine configuration doesn't contain v1alpha1 config, did you mean to patch the machine config instead?")
	}
	if err := m.unreadable(c); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	mode, err := m.mode(in.GetMode(), c)
	if err != nil {
		return nil, err
	}
	answer := &machine.ApplyConfiguration{Mode: mode, ModeDetails: details[mode]}
	switch {
	case in.GetDryRun():
		answer.ModeDetails = "Dry run summary:\n" + answer.GetModeDetails() + " (skipped in dry-run)."
	case mode == staged:
		m.persisted = c
	case m.active == nil:
		m.take(c)
	case mode == reboot:
		m.persisted = c
		m.goDown(stageRebooting, m.boot)
	default:
		m.reconfigure(c)
	}
	return answer, nil
}

var details = map[machine.ApplyConfigurationRequest_Mode]string{
	noReboot: "Applied configuration without a reboot",
	staged:   "Staged configuration to be applied after the next reboot",
	reboot:   "Applied configuration with a reboot",
}

// old reports whether the machine runs a Talos before 1.14, which reboots for
// some changes.
func (m *Machine) old() bool { return m.minor() < 14 }

// mode is what becomes of a mode that was asked for.
func (m *Machine) mode(asked machine.ApplyConfigurationRequest_Mode, c *config) (machine.ApplyConfigurationRequest_Mode, error) {
	cannot := m.active != nil && m.old() && m.active.needsReboot(c)
	switch {
	case asked == staged:
		return staged, nil
	case asked == auto && cannot:
		return reboot, nil
	case asked == noReboot && cannot:
		return 0, status.Error(codes.InvalidArgument, "this config change can't be applied in immediate mode")
	case asked == auto, asked == noReboot, asked == reboot && m.active == nil:
		return noReboot, nil
	case asked == reboot && m.old():
		return reboot, nil
	case asked == reboot:
		return 0, status.Error(codes.Unimplemented, "the REBOOT mode is not supported, please use AUTO or NO_REBOOT modes instead")
	}
	return 0, status.Errorf(codes.InvalidArgument, "incorrect mode '%s' specified for the apply config call", asked)
}

// reconfigure changes the configuration of a machine that runs.
func (m *Machine) reconfigure(c *config) {
	m.persisted = c
	old := m.active
	if string(old.text) != string(c.text) {
		m.version++
	}
	m.admit()
	m.active = c
	m.follow(old)
	m.trustAgain(old)
	m.certifyAgain(old)
}
