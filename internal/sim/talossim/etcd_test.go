package talossim_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// memberOf returns the id of a machine's member.
func (w *world) memberOf(name string) uint64 {
	w.t.Helper()
	r, err := w.admin(name).EtcdStatus(w.t.Context(), nothing)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.GetMessages()[0].GetMemberStatus().GetMemberId()
}

func TestJoin(t *testing.T) {
	w := newWorld(t)
	w.bootstrap("cp-1", "cp-2", "cp-3")
	expect(t, "members", w.members("cp-3"), "cp-1+ cp-2+ cp-3+")
	expect(t, "stages", w.stages(), "running running running")
	w.expectCode("a second bootstrap", second(w.admin("cp-2").Bootstrap(t.Context(), &machine.BootstrapRequest{})), codes.AlreadyExists)

	// A new control plane learns first.
	w.add("cp-4")
	w.apply("cp-4", w.cluster.ControlPlane("cp-4"))
	w.pass(22 * time.Second)
	expect(t, "members", w.members("cp-1"), "cp-1+ cp-2+ cp-3+ cp-4?")
	expect(t, "a learner's stage", w.fleet.Machine("cp-4").Stage(), "booting")
	w.pass(long)
	expect(t, "members", w.members("cp-4"), "cp-1+ cp-2+ cp-3+ cp-4+")
	w.sound()
}

func second[T any](_ T, err error) error { return err }

func TestLeave(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	w.bootstrap("cp-1", "cp-2", "cp-3")
	w.must(w.admin("cp-1").EtcdForfeitLeadership(ctx, &machine.EtcdForfeitLeadershipRequest{}))
	st, err := w.admin("cp-1").EtcdStatus(ctx, nothing)
	if err != nil || st.GetMessages()[0].GetMemberStatus().GetLeader() == w.memberOf("cp-1") {
		t.Errorf("it leads still: %v, %v", st, err)
	}
	w.must(w.admin("cp-1").EtcdLeaveCluster(ctx, &machine.EtcdLeaveClusterRequest{}))
	w.pass(long)
	expect(t, "members", w.members("cp-2"), "cp-2+ cp-3+")
	// Not until it boots again does it join again.
	w.must(w.admin("cp-1").Reboot(ctx, &machine.RebootRequest{}))
	w.pass(long)
	expect(t, "members", w.members("cp-2"), "cp-2+ cp-3+ cp-1+")
	w.sound()
}

// TestQuorum: etcd protects itself from removals, but not from reboots: those
// are violations.
func TestQuorum(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	w.bootstrap("cp-1", "cp-2", "cp-3")
	dead := w.memberOf("cp-3")
	w.fleet.Machine("cp-3").PowerOff()
	w.expectCode("leaving", second(w.admin("cp-2").EtcdLeaveCluster(ctx, &machine.EtcdLeaveClusterRequest{})), codes.DeadlineExceeded)
	id := w.memberOf("cp-2")
	w.expectCode("removal of one that lives", second(w.admin("cp-1").EtcdRemoveMemberByID(ctx, &machine.EtcdRemoveMemberByIDRequest{MemberId: id})), codes.Unknown)
	w.sound()
	w.must(w.admin("cp-1").EtcdRemoveMemberByID(ctx, &machine.EtcdRemoveMemberByIDRequest{MemberId: dead}))
	w.expectCode("removal of nobody", second(w.admin("cp-1").EtcdRemoveMemberByID(ctx, &machine.EtcdRemoveMemberByIDRequest{MemberId: dead})), codes.NotFound)
	expect(t, "members", w.members("cp-1"), "cp-1+ cp-2+")
	w.sound()

	// What was removed and comes back has data, and no place any more.
	w.fleet.Machine("cp-3").PowerOn()
	w.pass(long)
	expect(t, "stage", w.fleet.Machine("cp-3").Stage(), "booting")
	expect(t, "etcd", w.service("cp-3", "etcd"), "Failed")
	w.sound()
}

// service is the state of a service.
func (w *world) service(name, service string) string {
	w.t.Helper()
	r, err := w.admin(name).ServiceList(w.t.Context(), nothing)
	if err != nil {
		return err.Error()
	}
	for _, s := range r.GetMessages()[0].GetServices() {
		if s.GetId() == service {
			return s.GetState()
		}
	}
	return ""
}

func TestViolations(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(*world, context.Context)
		want string // empty: none
	}{
		{"one reboots", func(w *world, ctx context.Context) {
			w.must(w.admin("cp-1").Reboot(ctx, &machine.RebootRequest{}))
		}, ""},
		{"two reboot at once", func(w *world, ctx context.Context) {
			w.must(w.admin("cp-1").Reboot(ctx, &machine.RebootRequest{}))
			w.must(w.admin("cp-2").Reboot(ctx, &machine.RebootRequest{}))
		}, "has lost its quorum: 1 of 3"},
		{"one reboots while another one is dead", func(w *world, ctx context.Context) {
			w.fleet.Machine("cp-3").Cut()
			w.must(w.admin("cp-2").Reboot(ctx, &machine.RebootRequest{}))
		}, "has lost its quorum: 1 of 3"},
		{"two die by themselves", func(w *world, _ context.Context) {
			w.fleet.Machine("cp-3").PowerOff()
			w.fleet.Machine("cp-2").Silence()
		}, ""},
		{"two are taken away", func(w *world, _ context.Context) {
			w.fleet.Remove("cp-3")
			w.fleet.Remove("cp-2")
		}, "has lost its quorum: 1 of 3"},
		{"a control plane is reset by force", func(w *world, ctx context.Context) {
			w.must(w.admin("cp-1").Reset(ctx, &machine.ResetRequest{Reboot: true}))
			w.must(w.admin("cp-2").Reset(ctx, &machine.ResetRequest{Reboot: true}))
		}, "has lost its quorum: 1 of 3"},
		{"a second cluster", func(w *world, ctx context.Context) {
			for _, name := range []string{"cp-1", "cp-2", "cp-3"} {
				w.fleet.Machine(name).Cut()
			}
			w.add("cp-4")
			w.apply("cp-4", w.cluster.ControlPlane("cp-4"))
			w.pass(long)
			w.must(w.admin("cp-4").Bootstrap(ctx, &machine.BootstrapRequest{}))
			w.pass(long)
		}, "there are two etcd clusters"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.bootstrap("cp-1", "cp-2", "cp-3")
			tt.do(w, t.Context())
			got := strings.Join(w.fleet.Violations(), "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("violations %q, want %q", got, tt.want)
			}
		})
	}
}

// TestBlame: of a member that dies by itself, a client has to know only what it
// could have seen.
func TestBlame(t *testing.T) {
	look := func(w *world) {
		for _, name := range []string{"cp-1", "cp-2", "cp-3"} {
			_, _ = w.admin(name).EtcdStatus(w.t.Context(), nothing)
		}
	}
	die := func(w *world) { w.fleet.Machine("cp-3").Cut() }
	back := func(w *world) {
		w.fleet.Machine("cp-3").PowerOff()
		w.fleet.Machine("cp-3").PowerOn()
		w.pass(25 * time.Second)
	}
	read := func(w *world) { _, _ = w.admin("cp-3").Version(w.t.Context(), nothing) }
	change := func(w *world) {
		w.must(w.admin("cp-1").ApplyConfiguration(w.t.Context(), &machine.ApplyConfigurationRequest{Data: []byte(w.cluster.ControlPlane("cp-1")), Mode: machine.ApplyConfigurationRequest_STAGED}))
	}
	for _, tt := range []struct {
		name   string
		before []func(*world) // a control plane is rebooted
		blamed bool
	}{
		{"it dies right after the look", []func(*world){look, die}, false},
		{"and comes back, but etcd does not serve yet", []func(*world){look, back}, false},
		{"nobody has looked", []func(*world){die}, true},
		{"it died before the look", []func(*world){die, look}, true},
		{"the look is too old", []func(*world){look, func(w *world) { w.pass(2 * time.Minute) }, die}, true},
		{"something was changed since the look", []func(*world){look, change, die}, true},
		{"somebody has noticed", []func(*world){look, die, read}, true},
		{"or could have", []func(*world){look, back, read}, true},
		{"another one died before", []func(*world){func(w *world) { w.fleet.Machine("cp-2").Cut() }, look, die}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.bootstrap("cp-1", "cp-2", "cp-3")
			for _, do := range tt.before {
				do(w)
			}
			w.must(w.admin("cp-1").Reboot(t.Context(), &machine.RebootRequest{}))
			if v := w.fleet.Violations(); (len(v) > 0) != tt.blamed {
				t.Errorf("violations: %q", v)
			}
		})
	}
}

func TestSnapshotAndRecovery(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	w.bootstrap("cp-1", "cp-2", "cp-3")
	data := w.snapshot("cp-1")
	db, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if got := sha256.Sum256(db); !bytes.Equal(got[:], sum) || len(db)%512 != 0 {
		t.Errorf("no snapshot of etcd: %d bytes", len(data))
	}
	for _, name := range []string{"cp-1", "cp-2", "cp-3"} {
		w.fleet.Lose(name)
	}

	w.add("cp-1")
	w.apply("cp-1", w.cluster.ControlPlane("cp-1"))
	w.pass(long)
	w.upload("cp-1", []byte("half of it"))
	w.must(w.admin("cp-1").Bootstrap(ctx, &machine.BootstrapRequest{RecoverEtcd: true}))
	w.pass(long)
	expect(t, "etcd of a broken snapshot", w.service("cp-1", "etcd"), "Failed")
	w.upload("cp-1", data)
	w.must(w.admin("cp-1").Bootstrap(ctx, &machine.BootstrapRequest{RecoverEtcd: true}))
	w.pass(long)
	expect(t, "members", w.members("cp-1"), "cp-1+")
	w.sound()
}

// TestBootstrapTwice: a second call is harmless at first, and stops an etcd that
// has just begun; it comes back with the next boot.
func TestBootstrapTwice(t *testing.T) {
	for after, state := range map[time.Duration]string{time.Second: "Running", 5 * time.Second: "Finished"} {
		w := newWorld(t)
		w.add("cp-1")
		w.apply("cp-1", w.cluster.ControlPlane("cp-1"))
		w.pass(long)
		w.must(w.admin("cp-1").Bootstrap(t.Context(), &machine.BootstrapRequest{}))
		w.pass(after)
		_, err := w.admin("cp-1").Bootstrap(t.Context(), &machine.BootstrapRequest{})
		if (err != nil) != (state == "Finished") {
			t.Errorf("again after %v: %v", after, err)
		}
		w.pass(long)
		expect(t, "etcd", w.service("cp-1", "etcd"), state)
		w.fleet.Machine("cp-1").PowerOff()
		w.fleet.Machine("cp-1").PowerOn()
		w.pass(long)
		expect(t, "etcd", w.service("cp-1", "etcd"), "Running")
	}
}

func (w *world) snapshot(name string) (data []byte) {
	w.t.Helper()
	stream, err := w.admin(name).EtcdSnapshot(w.t.Context(), &machine.EtcdSnapshotRequest{})
	if err != nil {
		w.t.Fatal(err)
	}
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return data
		}
		if err != nil {
			w.t.Fatal(err)
		}
		data = append(data, piece.GetBytes()...)
	}
}

func (w *world) upload(name string, data []byte) {
	w.t.Helper()
	stream, err := w.admin(name).EtcdRecover(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if err := stream.Send(&common.Data{Bytes: data}); err != nil {
		w.t.Fatal(err)
	}
	w.must(stream.CloseAndRecv())
}

// TestHalfBootstrapped: a node that goes down between the call and the first
// data of etcd is as it was before.
func TestHalfBootstrapped(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	w.add("cp-1")
	w.apply("cp-1", w.cluster.ControlPlane("cp-1"))
	w.pass(long)
	for range 2 { // the second call is taken too
		w.must(w.admin("cp-1").Bootstrap(ctx, &machine.BootstrapRequest{}))
	}
	w.fleet.Machine("cp-1").PowerOff()
	w.fleet.Machine("cp-1").PowerOn()
	w.pass(long)
	expect(t, "etcd", w.service("cp-1", "etcd"), "Preparing")
	expect(t, "members", w.members("cp-1"), codes.DeadlineExceeded.String())
	w.must(w.admin("cp-1").Bootstrap(ctx, &machine.BootstrapRequest{}))
	w.pass(long)
	expect(t, "members", w.members("cp-1"), "cp-1+")
	w.sound()
}

// TestOneName: what joins under a name takes the place of what had it.
func TestOneName(t *testing.T) {
	w := newWorld(t)
	w.bootstrap("cp-1", "cp-2", "cp-3")
	w.fleet.Remove("cp-3")
	w.fleet.Add(talossim.Spec{Name: "cp-3", Public: []string{address(3)}, Installed: true}).PowerOn()
	w.pass(long)
	w.apply("cp-3", w.cluster.ControlPlane("cp-3"))
	w.pass(long)
	expect(t, "members", w.members("cp-1"), "cp-1+ cp-2+ cp-3+")
	w.sound()
}
