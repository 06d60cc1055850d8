package talossim_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// TestInstall follows a machine without Talos through its stages.
func TestInstall(t *testing.T) {
	w := newWorld(t)
	m := w.fleet.Add(talossim.Spec{Name: "metal", Public: []string{address(1)}})
	expect(t, "off", m.Stage(), "")
	m.PowerOn()
	expect(t, "on", m.Stage(), "booting")
	w.pass(20 * time.Second)
	expect(t, "booted", m.Stage(), "maintenance")
	w.apply("metal", w.cluster.ControlPlane("metal"))
	expect(t, "applied", m.Stage(), "installing")
	w.pass(3 * time.Second)
	installing := w.bootID("metal")
	w.pass(37 * time.Second)
	expect(t, "installed", m.Stage(), "rebooting")
	w.expectCode("apply while it reboots", second(w.admin("metal").ApplyConfiguration(t.Context(),
		&machine.ApplyConfigurationRequest{Data: []byte(w.cluster.ControlPlane("metal"))})), codes.FailedPrecondition)
	w.pass(time.Minute)
	expect(t, "rebooted", m.Stage(), "booting")
	if now := w.bootID("metal"); now == installing || now == "" {
		t.Errorf("boot id %q, before %q", now, installing)
	}
}

// TestModes: what modes of applying do on Talos 1.13 and 1.14.
func TestModes(t *testing.T) {
	change := map[string]string{"harmless": "  sysctls: {a: b}", "reboot": "  udev: {rules: []}"}
	const (
		auto     = machine.ApplyConfigurationRequest_AUTO
		noReboot = machine.ApplyConfigurationRequest_NO_REBOOT
		staged   = machine.ApplyConfigurationRequest_STAGED
		//lint:ignore SA1019 nodes of today still take it
		reboot = machine.ApplyConfigurationRequest_REBOOT
	)
	for _, tt := range []struct {
		talos, change string
		mode          machine.ApplyConfigurationRequest_Mode
		want          string // code, mode, stage, whether it is active now and after a reboot
	}{
		{"v1.13.9", "harmless", auto, "OK NO_REBOOT running now later"},
		{"v1.13.9", "harmless", noReboot, "OK NO_REBOOT running now later"},
		{"v1.13.9", "harmless", staged, "OK STAGED running later"},
		{"v1.13.9", "reboot", auto, "OK REBOOT rebooting later"},
		{"v1.13.9", "reboot", noReboot, "InvalidArgument running"},
		{"v1.13.9", "reboot", staged, "OK STAGED running later"},
		{"v1.13.9", "harmless", reboot, "OK REBOOT rebooting later"},
		{"v1.14.1", "reboot", auto, "OK NO_REBOOT running now later"},
		{"v1.14.1", "reboot", staged, "OK STAGED running later"},
		{"v1.14.1", "harmless", reboot, "Unimplemented running"},
		{"v1.14.1", "harmless", 17, "InvalidArgument running"},
	} {
		t.Run(fmt.Sprintf("%s %s %v", tt.talos, tt.change, tt.mode), func(t *testing.T) {
			w := newWorld(t)
			w.fleet.Add(talossim.Spec{Name: "cp-1", Public: []string{address(1)}, Installed: true, Talos: tt.talos}).PowerOn()
			w.pass(long)
			w.apply("cp-1", w.cluster.ControlPlane("cp-1"))
			w.pass(long)
			w.must(w.admin("cp-1").Bootstrap(t.Context(), &machine.BootstrapRequest{}))
			w.pass(long)
			m := w.fleet.Machine("cp-1")
			changed := w.cluster.ControlPlane("cp-1", change[tt.change])
			r, err := w.admin("cp-1").ApplyConfiguration(t.Context(), &machine.ApplyConfigurationRequest{Data: []byte(changed), Mode: tt.mode})
			got := status.Code(err).String()
			if err == nil {
				got += " " + r.GetMessages()[0].GetMode().String()
			}
			got += " " + m.Stage()
			if m.Config() == changed {
				got += " now"
			}
			m.PowerOff()
			m.PowerOn()
			w.pass(long)
			if m.Config() == changed {
				got += " later"
			}
			expect(t, "what happens", got, tt.want)
		})
	}
}

// TestReset: what is left of a machine that was reset.
func TestReset(t *testing.T) {
	for _, tt := range []struct {
		name      string
		installed bool
		request   *machine.ResetRequest
		want      string
	}{
		{"metal boots from elsewhere", false, &machine.ResetRequest{Reboot: true}, "maintenance"},
		{"metal is switched off", false, &machine.ResetRequest{}, ""},
		{"a server has nothing to boot", true, &machine.ResetRequest{Reboot: true}, ""},
		{"gracefully", false, &machine.ResetRequest{Graceful: true, Reboot: true}, "maintenance"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.bootstrap("cp-1", "cp-2")
			w.fleet.Add(talossim.Spec{Name: "cp-3", Public: []string{address(3)}, Installed: tt.installed}).PowerOn()
			w.pass(long)
			w.apply("cp-3", w.cluster.ControlPlane("cp-3"))
			w.pass(long)
			w.must(w.admin("cp-3").Reset(t.Context(), tt.request))
			w.pass(long)
			expect(t, "stage", w.fleet.Machine("cp-3").Stage(), tt.want)
			want := "cp-1+ cp-2+ cp-3+" // somebody has to remove it
			if tt.request.GetGraceful() {
				want = "cp-1+ cp-2+"
			}
			expect(t, "members", w.members("cp-1"), want)
			w.sound()
		})
	}
}

// TestGracefulResetWaits: a control plane that etcd cannot do without is not
// reset.
func TestGracefulResetWaits(t *testing.T) {
	w := newWorld(t)
	w.bootstrap("cp-1")
	w.must(w.admin("cp-1").Reset(t.Context(), &machine.ResetRequest{Graceful: true, Reboot: true}))
	w.pass(long)
	expect(t, "stage", w.fleet.Machine("cp-1").Stage(), "running")
	w.sound()
}

// TestReach: who is reached from where, and how it fails.
func TestReach(t *testing.T) {
	w := newWorld(t)
	m := w.fleet.Add(talossim.Spec{Name: "a", Public: []string{"192.0.2.1"}, Private: []string{"10.0.0.1"}, Network: "lan", Installed: true})
	inside := w.fleet.From("lan")
	dial := func(v talossim.View, address string) string {
		conn, err := v.Dial(t.Context(), address)
		var n net.Error
		switch {
		case err == nil:
			_ = conn.Close()
			return "connected"
		case errors.Is(err, syscall.ECONNREFUSED):
			return "refused"
		case errors.As(err, &n) && n.Timeout() && errors.Is(err, os.ErrDeadlineExceeded):
			return "no answer"
		}
		return err.Error()
	}
	expect(t, "off", dial(inside, "10.0.0.1:50000"), "no answer")
	m.PowerOn()
	expect(t, "booting", dial(inside, "10.0.0.1:50000"), "refused")
	w.pass(long)
	expect(t, "from within", dial(inside, "10.0.0.1:50000"), "connected")
	expect(t, "its public address", dial(inside, "192.0.2.1:50000"), "connected")
	expect(t, "another port", dial(inside, "10.0.0.1:22"), "refused")
	expect(t, "from another network", dial(w.fleet.From("other"), "10.0.0.1:50000"), "no answer")
	expect(t, "from outside", dial(w.fleet.From(""), "10.0.0.1:50000"), "no answer")
	expect(t, "in public", dial(w.fleet.From(""), "192.0.2.1:50000"), "connected")
	m.Cut()
	expect(t, "cut off", dial(inside, "10.0.0.1:50000"), "no answer")
	m.Heal()
	m.Silence()
	w.expectCode("silent", second(w.bare("a").Version(t.Context(), nothing)), codes.DeadlineExceeded)
	m.Heal()
	w.must(w.bare("a").Version(t.Context(), nothing))
}

// TestRoles: what a client may do depends on its certificate.
func TestRoles(t *testing.T) {
	w := newWorld(t)
	w.add("cp-1")
	w.expectCode("reading a boot id in maintenance mode", w.read(machine.NewMachineServiceClient(w.connect("cp-1", &tls.Config{InsecureSkipVerify: true}))), codes.PermissionDenied) //nolint:gosec // there is nothing to verify
	w.apply("cp-1", w.cluster.ControlPlane("cp-1"))
	w.pass(long)
	conn := w.connect("cp-1", w.trusted("os:reader"))
	reader := machine.NewMachineServiceClient(conn)
	w.must(reader.Version(t.Context(), nothing))
	w.expectCode("reboot", second(reader.Reboot(t.Context(), &machine.RebootRequest{})), codes.PermissionDenied)
	w.expectCode("bootstrap", second(reader.Bootstrap(t.Context(), &machine.BootstrapRequest{})), codes.PermissionDenied)
	w.expectCode("apply", second(reader.ApplyConfiguration(t.Context(), &machine.ApplyConfigurationRequest{})), codes.PermissionDenied)
	w.expectCode("boot id", w.read(reader), codes.PermissionDenied)
	config := &cosi.GetRequest{Namespace: "config", Type: "MachineConfigs.config.talos.dev", Id: "v1alpha1"}
	w.expectCode("configuration", second(cosi.NewStateClient(conn).Get(t.Context(), config)), codes.PermissionDenied)
	w.must(w.resourcesOf("cp-1").Get(t.Context(), config))
	config.Type = "Nonsense.talos.dev"
	w.expectCode("an unknown kind", second(w.resourcesOf("cp-1").Get(t.Context(), config)), codes.PermissionDenied)
}

func (w *world) read(c machine.MachineServiceClient) error {
	stream, err := c.Read(w.t.Context(), &machine.ReadRequest{Path: "/proc/sys/kernel/random/boot_id"})
	if err != nil {
		return err
	}
	_, err = stream.Recv()
	return err
}

// TestWorkersNeedAControlPlane: it signs their certificates.
func TestWorkersNeedAControlPlane(t *testing.T) {
	w := newWorld(t)
	w.add("worker-1", "cp-1")
	w.apply("worker-1", w.cluster.Worker("worker-1"))
	w.pass(long)
	w.expectCode("alone", second(w.admin("worker-1").Version(t.Context(), nothing)), codes.Unavailable)
	w.apply("cp-1", w.cluster.ControlPlane("cp-1"))
	w.pass(long)
	w.must(w.admin("worker-1").Version(t.Context(), nothing))
	w.expectCode("bootstrap", second(w.admin("worker-1").Bootstrap(t.Context(), &machine.BootstrapRequest{})), codes.Unimplemented)
	expect(t, "stages", w.stages(), "running booting")
}

// TestUserData: a machine that finds its configuration there needs nobody.
func TestUserData(t *testing.T) {
	w := newWorld(t)
	w.bootstrap("cp-1")
	for i, tt := range []struct{ name, data, want string }{
		{"whole", w.cluster.Worker("whole"), "running"},
		{"a part", "apiVersion: v1alpha1\nkind: LinkConfig\nname: eth1\n", "maintenance"},
		{"no configuration", "#!/bin/sh\n", "maintenance"},
	} {
		m := w.fleet.Add(talossim.Spec{Name: tt.name, Public: []string{address(i + 2)}, UserData: tt.data, Installed: true})
		m.PowerOn()
		w.pass(long)
		expect(t, tt.name, m.Stage(), tt.want)
	}
}

// TestStaysDown: a machine that does not come back.
func TestStaysDown(t *testing.T) {
	w := newWorld(t)
	w.bootstrap("cp-1", "cp-2", "cp-3")
	w.fleet.Machine("cp-2").StayDown()
	w.must(w.admin("cp-2").Reboot(t.Context(), &machine.RebootRequest{}))
	w.pass(time.Hour)
	expect(t, "stages", w.stages(), "running  running")
	w.fleet.Machine("cp-2").PowerOn()
	w.pass(long)
	expect(t, "stages", w.stages(), "running running running")
	w.sound()
}

// TestEvents: a client that follows a reboot sees its stages, until the
// connection ends.
func TestEvents(t *testing.T) {
	w := newWorld(t)
	w.bootstrap("cp-1")
	stream, err := w.admin("cp-1").Events(t.Context(), &machine.EventsRequest{TailEvents: -1})
	if err != nil {
		t.Fatal(err)
	}
	if hello, err := stream.Recv(); err != nil || hello.GetData() != nil {
		t.Errorf("hello %v, %v", hello, err)
	}
	w.must(w.admin("cp-1").Reboot(t.Context(), &machine.RebootRequest{}))
	// What is said before the connection ends may be lost with it, so it is read
	// before time passes.
	const want = "BOOTING MAINTENANCE BOOTING RUNNING REBOOTING"
	var stages []string
	for range strings.Fields(want) {
		e, err := stream.Recv()
		if err != nil {
			t.Fatalf("after %q: %v", stages, err)
		}
		var s machine.MachineStatusEvent
		if err := e.GetData().UnmarshalTo(&s); err != nil {
			t.Fatal(err)
		}
		stages = append(stages, s.GetStage().String())
	}
	expect(t, "stages", strings.Join(stages, " "), want)
	w.pass(10 * time.Second)
	if e, err := stream.Recv(); err == nil {
		t.Errorf("the connection goes on, with %v", e)
	}
}

// TestFaster: nothing takes no time at all, or whoever tries again and again
// would never come to an end.
func TestFaster(t *testing.T) {
	for _, tt := range []struct {
		times       float64
		boot, retry time.Duration
	}{{1, 20 * time.Second, 3 * time.Second}, {10, 2 * time.Second, 300 * time.Millisecond}, {1e6, 10 * time.Millisecond, 10 * time.Millisecond}, {0, 10 * time.Millisecond, 10 * time.Millisecond}} {
		if got := talossim.DefaultTiming().Faster(tt.times); got.Boot != tt.boot || got.Retry != tt.retry {
			t.Errorf("%v times: %+v", tt.times, got)
		}
	}
}
