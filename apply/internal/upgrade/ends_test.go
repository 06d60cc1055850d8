package upgrade_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/internal/kube"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// TestUnreadableMark: what another version of talosgen wrote does not become readable
// by waiting.
func TestUnreadableMark(t *testing.T) {
	w := newWorld(t, mixed)
	w.kube.nodes["w-2"].Upgrade = "levitating v9"
	w.kube.nodes["w-1"].Drained = true
	begin := w.fleet.Clock().Now()
	if err := w.run(t.Context()); err == nil || !strings.Contains(err.Error(), "node w-2: ") {
		t.Errorf("it says %v", err)
	}
	if took := w.fleet.Clock().Now().Sub(begin); took > time.Minute {
		t.Errorf("it ended after %v", took)
	}
	if w.kube.nodes["w-1"].Drained {
		t.Error("w-1 is left cordoned")
	}
}

// TestLostAnswersPause: a call that is lost again and again is made with pauses that
// grow, and not for ever.
func TestLostAnswersPause(t *testing.T) {
	w := newWorld(t, mixed)
	w.fleet.Inject(talossim.Fault{Method: "Pull", Times: -1, As: talossim.Status(codes.Unavailable, "error reading from server: EOF")})
	w.fleet.ResetCalls()
	begin := w.fleet.Clock().Now()
	if err := w.run(t.Context()); err == nil {
		t.Error("no image was pulled, and it says that it is done")
	}
	pulls := map[string]int{}
	for _, c := range w.fleet.Calls() {
		if c.Method == "Pull" {
			pulls[c.Machine]++
		}
	}
	for name, n := range pulls {
		if n > 6 {
			t.Errorf("%s was asked %d times", name, n)
		}
	}
	if took := w.fleet.Clock().Now().Sub(begin); len(pulls) == 0 || took < time.Minute {
		t.Errorf("%v were asked within %v", pulls, took)
	}
}

// TestLostFirstLook: nodes that answered when the plan was made, and of which the first
// answers in the run are lost, are not left.
func TestLostFirstLook(t *testing.T) {
	w := newWorld(t, mixed)
	for _, m := range w.fleet.Machines() {
		w.fleet.Inject(talossim.Fault{Machine: m.Name(), As: talossim.Status(codes.Unavailable, "error reading from server: EOF")})
		w.expected = append(w.expected, m.Name())
	}
	w.must(w.run(t.Context()))
	w.must(w.unreached)
	w.done()
}

// TestLostInPlan: a plan asks a node again that was reached and whose answer was lost, and
// refuses nothing because of it.
func TestLostInPlan(t *testing.T) {
	for name, fault := range map[string]talossim.Outcome{
		"the connection ends": talossim.Status(codes.Unavailable, "error reading from server: EOF"),
		"the stream ends":     talossim.Status(codes.Internal, "server closed the stream without sending trailers"),
	} {
		w := newWorld(t, mixed)
		for _, m := range w.fleet.Machines() {
			w.fleet.Inject(talossim.Fault{Machine: m.Name(), As: fault})
		}
		p, err := w.up.Plan(t.Context())
		if err != nil || len(p.Refusals)+len(p.Unreachable) > 0 || len(p.Steps) == 0 {
			t.Errorf("%s: %v\n%s", name, err, p)
		}
	}
}

// TestLostLock loses the lock when the first node was drained: nothing is changed
// after that, not even for the pods of that node.
func TestLostLock(t *testing.T) {
	w := newWorld(t, mixed)
	errLock := errors.New("the lock is held by another run")
	drained := func(n *kube.Node) bool { return n.Drained }
	w.up.Keep = func(ctx context.Context) error {
		if slices.ContainsFunc(slices.Collect(maps.Values(w.kube.nodes)), drained) {
			return errLock
		}
		return ctx.Err()
	}
	if err := w.run(t.Context()); !errors.Is(err, errLock) {
		t.Errorf("it says %v", err)
	}
	if w.kube.calls != 1 {
		t.Errorf("%d changes in Kubernetes, not one", w.kube.calls)
	}
	w.up.Keep = func(ctx context.Context) error { return ctx.Err() }
	w.must(w.run(t.Context()))
	w.done()
}

// TestRefusedByTalos: what Talos before 1.13 refuses has not begun. The node is not
// rebooted to find that out, gets its pods again, and the reason is told.
func TestRefusedByTalos(t *testing.T) {
	w := newWorld(t, map[string]string{"cp-1": "v1.12.11", "cp-2": "v1.12.11", "cp-3": "v1.12.11", "w-1": "v1.12.11"})
	const why = "error validating etcd for upgrade"
	w.fleet.Inject(talossim.Fault{Method: "Upgrade", Times: -1, As: talossim.Status(codes.Unknown, why)})
	w.fleet.ResetCalls()
	if err := w.run(t.Context()); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("it says %v", err)
	}
	for _, c := range w.fleet.Calls() {
		if c.Method == "Reboot" {
			t.Errorf("%s was rebooted", c.Machine)
		}
	}
	for name, n := range w.kube.nodes {
		if n.Drained || n.Upgrade != "" {
			t.Errorf("%s: drained %v, marked %q", name, n.Drained, n.Upgrade)
		}
	}
	w.fleet.ClearFaults()
	w.must(w.run(t.Context()))
	w.done()
}
