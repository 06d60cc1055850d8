package talossim

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
)

// onControlPlane refuses what only a control plane can do. A machine without a
// configuration is none.
func (m *Machine) onControlPlane(what string) error {
	if !m.controlPlane() {
		return status.Errorf(codes.Unimplemented, "%s is only available on control plane nodes", what)
	}
	return nil
}

// etcdOf returns the etcd that a control plane reaches, its own or that of
// others. Where there is none, whoever asks waits in vain.
func (m *Machine) etcdOf(what string) (*etcdCluster, error) {
	if err := m.onControlPlane(what); err != nil {
		return nil, err
	}
	if c := m.etcd.cluster; c != nil && c.quorum() {
		return c, nil
	}
	if c := m.fleet.serving(m.active.cluster()); c != nil && !m.leaving() {
		return c, nil
	}
	return nil, errHang
}

// Bootstrap makes a new etcd.
func (s *service) Bootstrap(ctx context.Context, in *machine.BootstrapRequest) (r *machine.BootstrapResponse, err error) {
	err = s.do(ctx, func() error {
		m := s.m
		if !m.services && m.active != nil {
			return status.Error(codes.FailedPrecondition, "bootstrap is not available yet")
		}
		if err := m.onControlPlane("bootstrap"); err != nil {
			return err
		}
		switch {
		case !m.synced:
			return status.Error(codes.FailedPrecondition, "time is not in sync yet")
		case m.etcd.cluster != nil:
			return status.Error(codes.AlreadyExists, "etcd data directory is not empty")
		case !m.run.bootstrapped:
			m.create(in.GetRecoverEtcd())
		case m.fleet.now.Sub(m.run.since) >= m.fleet.timing.Etcd/2:
			// It has just begun. Talos stops it, and only then finds its data.
			m.run.halted = true
			return errors.New("etcd data directory is not empty")
		} // else it begins anew, with the same result
		r = &machine.BootstrapResponse{Messages: []*machine.Bootstrap{{}}}
		return nil
	})
	return r, err
}

// EtcdMemberList lists members.
func (s *service) EtcdMemberList(ctx context.Context, _ *machine.EtcdMemberListRequest) (r *machine.EtcdMemberListResponse, err error) {
	err = s.do(ctx, func() error {
		c, err := s.m.etcdOf("member list")
		if err != nil {
			return err
		}
		list := &machine.EtcdMembers{}
		for _, m := range c.members {
			list.LegacyMembers = append(list.LegacyMembers, m.name)
			list.Members = append(list.Members, &machine.EtcdMember{Id: m.id, Hostname: m.name, PeerUrls: []string{m.peer}, IsLearner: m.learner})
		}
		r = &machine.EtcdMemberListResponse{Messages: []*machine.EtcdMembers{list}}
		return nil
	})
	return r, err
}

// local returns the etcd of the machine itself, which need not have a quorum.
func (m *Machine) local(what string) (*etcdCluster, error) {
	if err := m.onControlPlane(what); err != nil {
		return nil, err
	}
	if !m.run.serving {
		return nil, errHang
	}
	return m.etcd.cluster, nil
}

// EtcdStatus says how the member on the machine is.
func (s *service) EtcdStatus(ctx context.Context, _ *emptypb.Empty) (r *machine.EtcdStatusResponse, err error) {
	err = s.do(ctx, func() error {
		c, err := s.m.local("etcd status")
		if err != nil {
			return err
		}
		st := &machine.EtcdMemberStatus{
			MemberId: s.m.etcd.member, Leader: c.leader, RaftTerm: c.term, RaftIndex: c.index, RaftAppliedIndex: c.index,
			DbSize: dbSize, DbSizeInUse: dbSize / 2, ProtocolVersion: s.m.etcdVersion(), StorageVersion: c.version(),
		}
		if own := s.m.member(); own != nil {
			st.IsLearner = own.learner
		}
		if c.leader == 0 {
			st.Errors = []string{"etcdserver: no leader"}
		} else {
			s.m.said = &word{s.fleet.now, s.fleet.watch.changes}
		}
		r = &machine.EtcdStatusResponse{Messages: []*machine.EtcdStatus{{MemberStatus: st}}}
		return nil
	})
	return r, err
}

// EtcdAlarmList lists no alarms.
func (s *service) EtcdAlarmList(ctx context.Context, _ *emptypb.Empty) (r *machine.EtcdAlarmListResponse, err error) {
	err = s.do(ctx, func() error {
		_, err := s.m.local("etcd alarm list")
		r = &machine.EtcdAlarmListResponse{Messages: []*machine.EtcdAlarm{{}}}
		return err
	})
	return r, err
}

// EtcdForfeitLeadership gives the leadership to another voter.
func (s *service) EtcdForfeitLeadership(ctx context.Context, _ *machine.EtcdForfeitLeadershipRequest) (r *machine.EtcdForfeitLeadershipResponse, err error) {
	err = s.change(ctx, func() error {
		c, err := s.m.etcdOf("etcd forfeit leadership")
		if err != nil {
			return err
		}
		if len(c.members) == 1 {
			return errors.New("failed to forfeit leadership: cannot forfeit leadership, only one member")
		}
		answer := &machine.EtcdForfeitLeadership{}
		for _, m := range c.members {
			if c.leader == s.m.etcd.member && m.id != c.leader && !m.learner && m.healthy(c) {
				c.leader, answer.Member = m.id, m.name
				c.term++
				break
			}
		}
		r = &machine.EtcdForfeitLeadershipResponse{Messages: []*machine.EtcdForfeitLeadership{answer}}
		return nil
	})
	return r, err
}

// EtcdLeaveCluster takes the member of the machine out, and its data away.
func (s *service) EtcdLeaveCluster(ctx context.Context, _ *machine.EtcdLeaveClusterRequest) (r *machine.EtcdLeaveClusterResponse, err error) {
	err = s.change(ctx, func() error {
		if _, err := s.m.etcdOf("etcd leave"); err != nil {
			return err
		}
		if s.m.etcd.cluster == nil {
			return errors.New("failed to leave cluster: failed to get local etcd member ID: resource EtcdMembers.etcd.talos.dev(etcd/local@undefined) doesn't exist")
		}
		switch refusal := s.m.leave(); {
		case refusal == unhealthyCluster:
			return errHang // it tries for five minutes
		case refusal != "":
			return fmt.Errorf("failed to leave cluster: 1 error(s) occurred:\n\tfailed to remove member %d: %s", s.m.etcd.member, refusal)
		}
		r = &machine.EtcdLeaveClusterResponse{Messages: []*machine.EtcdLeaveCluster{{}}}
		return nil
	})
	return r, err
}

// leave takes the member out, unless etcd refuses. The service stays stopped
// until the next boot, in which it would join again.
func (m *Machine) leave() (refusal string) {
	c := m.etcd.cluster
	if own := m.member(); own != nil {
		if !c.quorum() {
			return unhealthyCluster
		}
		if refusal := c.refusal(own.id); refusal != "" {
			return refusal
		}
		c.remove(own.id)
	}
	m.run = etcdRun{stopped: true}
	m.dropData()
	return ""
}

// EtcdRemoveMemberByID takes any member out.
func (s *service) EtcdRemoveMemberByID(ctx context.Context, in *machine.EtcdRemoveMemberByIDRequest) (r *machine.EtcdRemoveMemberByIDResponse, err error) {
	err = s.change(ctx, func() error {
		c, err := s.m.etcdOf("etcd remove member")
		if err != nil {
			return err
		}
		gone := c.member(in.GetMemberId())
		if gone == nil {
			return status.Error(codes.NotFound, "etcdserver: member not found")
		}
		if refusal := c.refusal(gone.id); refusal != "" {
			return fmt.Errorf("failed to remove member: failed to remove member %d: %s", gone.id, refusal)
		}
		c.remove(gone.id)
		if gone.machine.etcd.cluster == c && gone.machine.etcd.member == gone.id && gone.machine.run.serving {
			gone.machine.run = etcdRun{failed: "the member has been permanently removed from the cluster"}
		}
		r = &machine.EtcdRemoveMemberByIDResponse{Messages: []*machine.EtcdRemoveMemberByID{{}}}
		return nil
	})
	return r, err
}

// EtcdSnapshot streams a snapshot.
func (s *service) EtcdSnapshot(_ *machine.EtcdSnapshotRequest, stream grpc.ServerStreamingServer[common.Data]) error {
	var data []byte
	err := s.do(stream.Context(), func() error {
		c, err := s.m.local("etcd snapshot")
		if err == nil {
			data = s.fleet.snapshot(c)
		}
		return err
	})
	if err != nil {
		return err
	}
	const piece = 16 << 10
	for len(data) > 0 {
		n := min(piece, len(data))
		if err := stream.Send(&common.Data{Bytes: data[:n]}); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// EtcdRecover takes a snapshot, whatever it is.
func (s *service) EtcdRecover(stream grpc.ClientStreamingServer[common.Data, machine.EtcdRecoverResponse]) error {
	var data []byte
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		data = append(data, piece.GetBytes()...)
	}
	err := s.do(stream.Context(), func() error {
		if err := s.m.onControlPlane("etcd recover"); err != nil {
			return err
		}
		s.m.etcd.upload = data
		return nil
	})
	if err != nil {
		return err
	}
	return stream.SendAndClose(&machine.EtcdRecoverResponse{Messages: []*machine.EtcdRecover{{}}})
}
