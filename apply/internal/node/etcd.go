package node

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/talosgen/talosgen/internal/diag"
)

// etcdCalls are the calls about etcd and its data.
type etcdCalls struct{ *link }

// Bootstrap makes the node the first member of a new etcd. With recovered it
// takes what [Client.Upload] has brought. A node that has an etcd already
// answers AlreadyExists, one that is not ready yet FailedPrecondition, and a
// worker Unimplemented: see [Code].
func (c etcdCalls) Bootstrap(ctx context.Context, recovered bool) error {
	_, err := call(ctx, c.link, "bootstrap", &machine.BootstrapRequest{RecoverEtcd: recovered}, c.machine.Bootstrap)
	return err
}

// etcdData is where etcd keeps its data on a node.
const etcdData = constants.EtcdDataPath

// EtcdData reports whether there is anything in the directory of etcd's data. It
// is what the node itself looks at before a bootstrap. Before /var is mounted
// the answer says nothing: ask a node whose etcd is [EtcdPreparing].
func (c etcdCalls) EtcdData(ctx context.Context) (bool, error) {
	const what = "look for data of etcd"
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	stream, err := c.machine.List(ctx, &machine.ListRequest{Root: etcdData, Recurse: true, RecursionDepth: 1})
	if err != nil {
		return false, c.explain(what, err)
	}
	found, seen := false, false
	for {
		entry, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && !seen:
			return false, diag.On("node "+c.target.Name, "%s: the node says nothing of %s", what, etcdData).WithCode(diag.Remote)
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return false, c.explain(what, err)
		case entry.GetError() != "":
			return false, diag.On("node "+c.target.Name, "%s: %s", what, oneLine(entry.GetError())).WithCode(diag.Remote)
		}
		seen = true
		found = found || strings.TrimRight(entry.GetName(), "/") != strings.TrimRight(etcdData, "/")
	}
}

// States of the service etcd. One that is being prepared has its image, and
// waits to be bootstrapped, or to find another member, unless it has data.
const (
	Etcd          = "etcd"
	EtcdPreparing = "Preparing"
	EtcdRunning   = "Running"
)

// MemberID is the id of a member of etcd.
type MemberID uint64

// String is the id as etcd's own tools write it.
func (id MemberID) String() string { return strconv.FormatUint(uint64(id), 16) }

// Member is a member of etcd.
type Member struct {
	ID       MemberID
	Hostname string // empty for one that has not started yet
	PeerURLs []string
	Learner  bool // it has no vote yet
}

// Members lists the members of etcd as this node knows them.
func (c etcdCalls) Members(ctx context.Context) ([]Member, error) {
	const what = "list etcd's members"
	response, err := call(ctx, c.link, what, &machine.EtcdMemberListRequest{}, c.machine.EtcdMemberList)
	m, err := only(c.link, what, response.GetMessages(), err)
	if err != nil {
		return nil, err
	}
	var found []Member
	for _, e := range m.GetMembers() {
		found = append(found, Member{ID: MemberID(e.GetId()), Hostname: e.GetHostname(), PeerURLs: e.GetPeerUrls(), Learner: e.GetIsLearner()})
	}
	return found, nil
}

// EtcdStatus is what the member on a node says about itself.
type EtcdStatus struct {
	Member    MemberID
	Leader    MemberID // 0 if there is none
	RaftTerm  uint64
	RaftIndex uint64
	Applied   uint64 // the index up to which it has caught up
	Size      int64  // of its database, in bytes
	Learner   bool
	Errors    []string // alarms
	Version   string   // of the program
	Storage   string   // the version of what it writes; empty before 3.6
}

// EtcdStatus reads the state of the member on this node.
func (c etcdCalls) EtcdStatus(ctx context.Context) (EtcdStatus, error) {
	const what = "read the state of etcd"
	response, err := call(ctx, c.link, what, &emptypb.Empty{}, c.machine.EtcdStatus)
	m, err := only(c.link, what, response.GetMessages(), err)
	if err != nil {
		return EtcdStatus{}, err
	}
	s := m.GetMemberStatus()
	return EtcdStatus{
		Member: MemberID(s.GetMemberId()), Leader: MemberID(s.GetLeader()), RaftTerm: s.GetRaftTerm(), RaftIndex: s.GetRaftIndex(),
		Applied: s.GetRaftAppliedIndex(), Size: s.GetDbSize(), Learner: s.GetIsLearner(), Errors: s.GetErrors(), Version: s.GetProtocolVersion(), Storage: s.GetStorageVersion(),
	}, nil
}

// Snapshot writes a snapshot of etcd: all that Kubernetes has, secrets included.
// It takes as long as it takes: the context bounds it.
func (c etcdCalls) Snapshot(ctx context.Context, to io.Writer) error {
	const what = "take a snapshot of etcd"
	stream, err := c.machine.EtcdSnapshot(ctx, &machine.EtcdSnapshotRequest{})
	if err != nil {
		return c.explain(what, err)
	}
	return c.copy(what, stream, to)
}

// Upload brings a snapshot to the node, from which a following [Client.Bootstrap]
// recovers.
func (c etcdCalls) Upload(ctx context.Context, from io.Reader) error {
	const what = "upload a snapshot of etcd"
	const piece = 64 << 10
	stream, err := c.machine.EtcdRecover(ctx)
	if err != nil {
		return c.explain(what, err)
	}
	buffer := make([]byte, piece)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			// That the stream is over says nothing: the reason comes with its end.
			if sendErr := stream.Send(&common.Data{Bytes: buffer[:n]}); sendErr != nil {
				break
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	_, err = stream.CloseAndRecv()
	return c.explain(what, err)
}

// TransferLeadership makes another member the leader, if this one is.
func (c etcdCalls) TransferLeadership(ctx context.Context) error {
	_, err := call(ctx, c.link, "give up the leadership of etcd", &machine.EtcdForfeitLeadershipRequest{}, c.machine.EtcdForfeitLeadership)
	return err
}

// Leave takes this node's member out of etcd. Whether it is out, the list of
// another member says.
func (c etcdCalls) Leave(ctx context.Context) error {
	_, err := call(ctx, c.link, "leave etcd", &machine.EtcdLeaveClusterRequest{}, c.machine.EtcdLeaveCluster)
	return err
}

// RemoveMember takes another member out of etcd: one whose node is dead. One that
// is not there any more is no error.
func (c etcdCalls) RemoveMember(ctx context.Context, id MemberID) error {
	_, err := call(ctx, c.link, "remove member "+id.String()+" of etcd", &machine.EtcdRemoveMemberByIDRequest{MemberId: uint64(id)}, c.machine.EtcdRemoveMemberByID)
	if Code(err) == codes.NotFound {
		return nil
	}
	return err
}
