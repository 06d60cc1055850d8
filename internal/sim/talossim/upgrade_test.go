package talossim_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/talosgen/talosgen/internal/sim/talossim"
)

const (
	schematic = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
	newImage  = "factory.talos.dev/hcloud-installer/" + schematic + ":v1.14.1"
)

// upgraded is a cluster of one control plane node with a version of Talos.
func upgraded(t *testing.T, s talossim.Spec) (*world, *talossim.Machine) {
	t.Helper()
	w := newWorld(t)
	s.Name, s.Public, s.Installed = "cp-1", []string{address(1)}, true
	m := w.fleet.Add(s)
	m.PowerOn()
	w.pass(long)
	w.apply("cp-1", w.cluster.ControlPlane("cp-1"))
	w.pass(long)
	w.must(w.admin("cp-1").Bootstrap(t.Context(), &machine.BootstrapRequest{}))
	w.pass(long)
	return w, m
}

// pull pulls an image, and returns its name by digest.
func (w *world) pull(image string) (name string, err error) {
	w.t.Helper()
	stream, err := machine.NewImageServiceClient(w.connect("cp-1", w.trusted("os:admin"))).Pull(w.t.Context(), &machine.ImageServicePullRequest{Containerd: &common.ContainerdInstance{Namespace: common.ContainerdNamespace_NS_SYSTEM}, ImageRef: image})
	for err == nil {
		var r *machine.ImageServicePullResponse
		if r, err = stream.Recv(); r.GetName() != "" {
			name = r.GetName()
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return name, err
}

// install runs an installer, and returns its exit code.
func (w *world) install(image string) (code int32, err error) {
	w.t.Helper()
	code = -1
	stream, err := machine.NewLifecycleServiceClient(w.connect("cp-1", w.trusted("os:admin"))).Upgrade(w.t.Context(),
		&machine.LifecycleServiceUpgradeRequest{Source: &machine.InstallArtifactsSource{ImageName: image}})
	for err == nil {
		var r *machine.LifecycleServiceUpgradeResponse
		r, err = stream.Recv()
		if c, is := r.GetProgress().GetResponse().(*machine.LifecycleServiceInstallProgress_ExitCode); is {
			code = c.ExitCode
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return code, err
}

func (w *world) pulledAndInstalled() {
	w.t.Helper()
	name, err := w.pull(newImage)
	if err != nil || !strings.Contains(name, schematic+"@sha256:") {
		w.t.Fatal(name, err)
	}
	if code, err := w.install(name); code != 0 || err != nil {
		w.t.Fatal(code, err)
	}
}

func (w *world) reboot() {
	w.t.Helper()
	w.must(w.admin("cp-1").Reboot(w.t.Context(), &machine.RebootRequest{}))
	w.pass(long)
}

func (w *world) talos() string {
	w.t.Helper()
	r, err := w.admin("cp-1").Version(w.t.Context(), &emptypb.Empty{})
	if err != nil {
		w.t.Fatal(err)
	}
	return r.GetMessages()[0].GetVersion().GetTag()
}

// TestLifecycle installs beside the system that runs, which the next boot takes; etcd
// comes with it.
func TestLifecycle(t *testing.T) {
	w, m := upgraded(t, talossim.Spec{Talos: "v1.13.9"})
	w.pulledAndInstalled()
	expect(t, "not booted yet", w.talos(), "v1.13.9")
	w.reboot()
	expect(t, "booted", w.talos(), "v1.14.1")
	running, other := m.Systems()
	if running != (talossim.System{Talos: "v1.14.1", Schematic: schematic}) || other.Talos != "v1.13.9" {
		t.Errorf("the systems are %v and %v", running, other)
	}
	r, err := w.admin("cp-1").EtcdStatus(t.Context(), &emptypb.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "etcd", r.GetMessages()[0].GetMemberStatus().GetProtocolVersion(), "3.7.1")
	expect(t, "its storage", r.GetMessages()[0].GetMemberStatus().GetStorageVersion(), "3.7.0")
	if v := w.fleet.Violations(); len(v) > 0 {
		t.Error(v)
	}
}

// TestLifecycleRefusals are in the order in which Talos checks.
func TestLifecycleRefusals(t *testing.T) {
	w, m := upgraded(t, talossim.Spec{Talos: "v1.13.9"})
	_, err := w.install("")
	w.expectCode("a call without an image", err, codes.InvalidArgument)
	_, err = w.install(newImage)
	w.expectCode("an image that is not there", err, codes.NotFound)
	_, err = w.pull("factory.talos.dev/none")
	w.expectCode("an image of nobody", err, codes.NotFound)
	if _, err := w.pull(newImage); err != nil {
		t.Fatal(err)
	}
	m.FailInstall(7)
	if code, err := w.install(newImage); code != 7 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	w.fleet.Inject(talossim.Fault{Method: "Upgrade", As: talossim.CutAfter(1)})
	if code, _ := w.install(newImage); code != -1 {
		t.Errorf("exit code %d of a stream that was cut", code)
	}
	_, err = w.install("")
	w.expectCode("while an installer runs", err, codes.FailedPrecondition)
	w.pass(long)
	w.reboot()
	expect(t, "it went on without its client", w.talos(), "v1.14.1")
	w.pass(2 * time.Hour)
	_, err = w.install(newImage)
	w.expectCode("an image that was collected", err, codes.NotFound)
}

// TestOlderUpgrade is the call of before 1.13: newer ones are not known, and it
// reboots.
func TestOlderUpgrade(t *testing.T) {
	w, m := upgraded(t, talossim.Spec{Talos: "v1.12.11"})
	_, err := w.install(newImage)
	w.expectCode("lifecycle", err, codes.Unimplemented)
	_, err = w.pull(newImage)
	w.expectCode("images", err, codes.Unimplemented)
	//lint:ignore SA1019 older nodes have no other call
	w.must(w.admin("cp-1").ImagePull(t.Context(), &machine.ImagePullRequest{Namespace: common.ContainerdNamespace_NS_SYSTEM, Reference: newImage}))
	m.FailInstall(7)
	before := w.bootID("cp-1")
	//lint:ignore SA1019 older nodes have no other call
	w.must(w.admin("cp-1").Upgrade(t.Context(), &machine.UpgradeRequest{Image: newImage}))
	expect(t, "stage", m.Stage(), "upgrading")
	w.pass(long)
	if expect(t, "gave up", w.talos()+" "+m.Stage(), "v1.12.11 running"); w.bootID("cp-1") != before {
		t.Error("it has booted")
	}
	//lint:ignore SA1019 older nodes have no other call
	w.must(w.admin("cp-1").Upgrade(t.Context(), &machine.UpgradeRequest{Image: newImage}))
	w.pass(long)
	expect(t, "upgraded", w.talos(), "v1.14.1")
}

// TestFailedBoots: a system that fails goes back to the one before, one that hangs
// does not, and neither does one whose mark in META was lost.
func TestFailedBoots(t *testing.T) {
	for _, c := range []struct {
		name  string
		how   talossim.Failure
		meta  bool
		talos string // empty: it does not answer
		wrong string
	}{
		{"fails", talossim.Reverts, false, "v1.13.9", ""},
		{"hangs", talossim.Hangs, false, "", ""},
		{"fails, META was written", talossim.Reverts, true, "", "change of META"},
	} {
		w, m := upgraded(t, talossim.Spec{Talos: "v1.13.9"})
		w.pulledAndInstalled()
		if c.meta {
			w.must(w.admin("cp-1").MetaWrite(t.Context(), &machine.MetaWriteRequest{Key: 0x0e, Value: []byte("a note")}))
		}
		m.Break("v1.14.1", c.how)
		w.reboot()
		talos := ""
		if r, err := w.admin("cp-1").Version(t.Context(), &emptypb.Empty{}); err == nil {
			talos = r.GetMessages()[0].GetVersion().GetTag()
		} else if status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", c.name, err)
		}
		expect(t, c.name, talos, c.talos)
		if v := strings.Join(w.fleet.Violations(), "\n"); !strings.Contains(v, c.wrong) || c.wrong == "" && v != "" {
			t.Errorf("%s: violations %q", c.name, v)
		}
	}
}

// TestTwoInstallations: with GRUB the second one in a boot overwrites the system that
// runs; with systemd-boot it does not. Neither is ever right.
func TestTwoInstallations(t *testing.T) {
	for kind, other := range map[talossim.Bootloader]string{talossim.GRUB: "v1.14.1", talossim.SystemdBoot: "v1.13.9"} {
		w, m := upgraded(t, talossim.Spec{Talos: "v1.13.9", Bootloader: kind})
		w.pulledAndInstalled()
		w.pulledAndInstalled()
		w.reboot()
		_, left := m.Systems()
		expect(t, "with "+string(kind)+" is left", left.Talos, other)
		if v := strings.Join(w.fleet.Violations(), "\n"); !strings.Contains(v, "second installation") {
			t.Errorf("violations %q", v)
		}
	}
}
