package talossim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/internal/sim/talossim"
)

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault talossim.Fault
		want  codes.Code
		done  bool // the machine reboots all the same
		took  time.Duration
	}{
		{"none", talossim.Fault{Method: "Version"}, codes.OK, true, 0},
		{"of another machine", talossim.Fault{Machine: "cp-[2-9]"}, codes.OK, true, 0},
		{"of another call", talossim.Fault{Call: 2}, codes.OK, true, 0},
		{"before", talossim.Fault{Call: 1, Machine: "cp-1", Method: "Reboot"}, codes.Unavailable, false, 0},
		{"its answer is lost", talossim.Fault{After: true}, codes.Unavailable, true, 0},
		{"hangs", talossim.Fault{Method: "Re*", As: talossim.Hang()}, codes.DeadlineExceeded, false, 0},
		{"slow", talossim.Fault{As: talossim.Slow(time.Second)}, codes.OK, true, time.Second},
		{"an error", talossim.Fault{As: talossim.Status(codes.Internal, "no")}, codes.Internal, false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.bootstrap("cp-1")
			c := w.admin("cp-1")
			w.fleet.ResetCalls()
			struck := false
			tt.fault.Then = func() { struck = true }
			w.fleet.Inject(tt.fault)
			begin := w.fleet.Clock().Now()
			_, err := c.Reboot(t.Context(), &machine.RebootRequest{})
			w.expectCode("the call", err, tt.want)
			if took := w.fleet.Clock().Now().Sub(begin); took != tt.took {
				t.Errorf("it took %v", took)
			}
			if done := w.fleet.Machine("cp-1").Stage() == "rebooting"; done != tt.done {
				t.Errorf("rebooting: %v", done)
			}
			if want := tt.want != codes.OK || tt.took > 0; struck != want {
				t.Errorf("struck: %v", struck)
			}
			calls := w.fleet.Calls()
			if len(calls) != 1 || calls[0].Method != "Reboot" || calls[0].Machine != "cp-1" || calls[0].Code != tt.want {
				t.Errorf("calls %+v", calls)
			}
		})
	}
}

// TestFaultTimes: a fault strikes as often as it should.
func TestFaultTimes(t *testing.T) {
	for _, tt := range []struct{ times, want int }{{0, 1}, {2, 2}, {-1, 5}} {
		w := newWorld(t)
		w.add("a")
		w.fleet.Inject(talossim.Fault{Times: tt.times, As: talossim.Hang()})
		c, failed := w.bare("a"), 0
		for range 5 {
			if _, err := c.Version(t.Context(), nothing); err != nil {
				failed++
			}
		}
		if failed != tt.want {
			t.Errorf("%d times: %d", tt.times, failed)
		}
		w.fleet.ClearFaults()
		w.must(c.Version(t.Context(), nothing))
	}
}

// TestManyNodes: hundreds of nodes cost little.
func TestManyNodes(t *testing.T) {
	const many = 200
	w := newWorld(t)
	w.bootstrap("cp-1", "cp-2", "cp-3")
	var names []string
	for i := range many {
		names = append(names, fmt.Sprintf("worker-%d", i+1))
	}
	w.add(names...)
	for _, name := range names {
		w.apply(name, w.cluster.Worker(name))
	}
	w.pass(long)
	for _, m := range w.fleet.Machines() {
		if m.Stage() != "running" {
			t.Fatalf("%s is %s", m.Name(), m.Stage())
		}
	}
	for _, name := range names {
		w.must(w.admin(name).Version(t.Context(), nothing))
	}
	w.sound()
}

// TestStrangeFaults: requests come late and have their effect, streams end early,
// machines say what is not so, once, and a clock that is wrong lets nobody in.
func TestStrangeFaults(t *testing.T) {
	w := newWorld(t)
	w.bootstrap("cp-1")
	c := w.admin("cp-1")

	w.fleet.Inject(talossim.Fault{Method: "ServiceList", As: talossim.SaysUnwell()})
	for _, well := range []bool{false, true} {
		list, err := c.ServiceList(t.Context(), nothing)
		w.must(list, err)
		for _, s := range list.GetMessages()[0].GetServices() {
			if s.GetHealth().GetHealthy() != well || s.GetState() != "Running" {
				t.Errorf("%s is healthy: %v, want %v; %s", s.GetId(), s.GetHealth().GetHealthy(), well, s.GetState())
			}
		}
	}

	w.fleet.Inject(talossim.Fault{Method: "Get", As: talossim.SaysStage("unknown")})
	for _, stage := range []string{"unknown", "running"} {
		r, err := w.resourcesOf("cp-1").Get(t.Context(), &cosi.GetRequest{Namespace: "runtime", Type: "MachineStatuses.runtime.talos.dev", Id: "machine"})
		w.must(r, err)
		if text := r.GetResource().GetSpec().GetYamlSpec(); !strings.Contains(text, "stage: "+stage) {
			t.Errorf("want the stage %s:\n%s", stage, text)
		}
	}

	w.fleet.Inject(talossim.Fault{Method: "Events", As: talossim.CutAfter(1)})
	stream, err := c.Events(t.Context(), &machine.EventsRequest{TailEvents: -1})
	w.must(stream, err)
	_, err = stream.Recv()
	w.expectCode("the first event", err, codes.OK)
	_, err = stream.Recv()
	w.expectCode("the second event", err, codes.Unavailable)

	w.fleet.Inject(talossim.Fault{Method: "Reboot", As: talossim.Late(time.Minute)})
	begin := w.fleet.Clock().Now()
	w.must(c.Reboot(t.Context(), &machine.RebootRequest{}))
	if took := w.fleet.Clock().Now().Sub(begin); took != time.Minute || w.fleet.Machine("cp-1").Stage() != "rebooting" {
		t.Errorf("it took %v, and it is %s", took, w.fleet.Machine("cp-1").Stage())
	}
	w.pass(long)

	w.fleet.Machine("cp-1").Skew(-48 * time.Hour)
	if _, err := w.admin("cp-1").Version(t.Context(), nothing); err == nil {
		t.Error("its clock is two days behind, and the certificate is valid all the same")
	}
	w.fleet.Machine("cp-1").Heal()
	w.must(w.admin("cp-1").Version(t.Context(), nothing))
}
