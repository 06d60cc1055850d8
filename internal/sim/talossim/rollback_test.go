package talossim_test

import (
	"strings"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/internal/sim/talossim"
)

func (w *world) rollback(want codes.Code) {
	w.t.Helper()
	w.expectCode("rollback", second(w.admin("cp-1").Rollback(w.t.Context(), &machine.RollbackRequest{})), want)
}

// TestRollback: the system of before runs again, and the newer one is the other system
// from then on. There is nothing to go back to on a machine that was never upgraded.
func TestRollback(t *testing.T) {
	for _, kind := range []talossim.Bootloader{talossim.GRUB, talossim.SystemdBoot} {
		w, m := upgraded(t, talossim.Spec{Talos: "v1.13.1", Bootloader: kind})
		w.rollback(codes.Unknown)
		name, err := w.pull(strings.Replace(newImage, "v1.14.1", "v1.13.9", 1))
		if code, failed := w.install(name); err != nil || failed != nil || code != 0 {
			t.Fatal(code, err, failed)
		}
		w.reboot()
		expect(t, "upgraded", w.talos(), "v1.13.9")
		w.rollback(codes.OK)
		w.pass(long)
		expect(t, "rolled back", w.talos()+" "+m.Stage(), "v1.13.1 running")
		if _, other := m.Systems(); other.Talos != "v1.13.9" {
			t.Errorf("the other system is %v", other)
		}
		if v := w.fleet.Violations(); len(v) > 0 {
			t.Error(v)
		}
	}
}

// TestRollbackTwice: the second call in one boot leads back to the system that runs.
func TestRollbackTwice(t *testing.T) {
	w, _ := upgraded(t, talossim.Spec{Talos: "v1.13.9"})
	w.pulledAndInstalled()
	w.reboot()
	w.rollback(codes.OK)
	w.rollback(codes.OK)
	w.pass(long)
	expect(t, "twice", w.talos(), "v1.14.1")
	if v := strings.Join(w.fleet.Violations(), "\n"); !strings.Contains(v, "second rollback") {
		t.Errorf("violations %q", v)
	}
}

// TestRollbackTooFar: an etcd whose storage is of the next minor does not start with the
// one before, and Talos does not get to run.
func TestRollbackTooFar(t *testing.T) {
	w, m := upgraded(t, talossim.Spec{Talos: "v1.13.9"})
	w.pulledAndInstalled()
	w.reboot()
	w.rollback(codes.OK)
	w.pass(long)
	expect(t, "rolled back", w.talos()+" "+m.Stage(), "v1.13.9 booting")
	if v := strings.Join(w.fleet.Violations(), "\n"); !strings.Contains(v, "older than the storage of its cluster, 3.7") {
		t.Errorf("violations %q", v)
	}
}

// TestRollbackToNothing: an installer that has failed has replaced the system of before.
func TestRollbackToNothing(t *testing.T) {
	w, m := upgraded(t, talossim.Spec{Talos: "v1.13.9"})
	name, err := w.pull(newImage)
	m.FailInstall(7)
	if code, failed := w.install(name); code != 7 || err != nil || failed != nil {
		t.Fatal(code, err, failed)
	}
	w.rollback(codes.OK)
	w.pass(long)
	expect(t, "rolled back", m.Stage(), "booting")
	if v := strings.Join(w.fleet.Violations(), "\n"); !strings.Contains(v, "a system whose installation failed") {
		t.Errorf("violations %q", v)
	}
}
