package nodes_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// TestLastLook: a control plane dies after the check of the cluster's health, while
// another one is made ready for its reboot. That one waits until the first is back,
// and is not rebooted if it does not come back.
func TestLastLook(t *testing.T) {
	for _, tt := range []struct {
		name string
		back bool
		want string
	}{
		{"it comes back", true, ""},
		{"it does not", false, "node cp-1: not free to be disturbed within 10m0s: etcd would have 1 of 3 healthy members, and needs 2"},
	} {
		t.Run(tt.name, inBubble(func(t *testing.T) {
			w := newWorld(t)
			w.made("cp-1", "cp-2", "cp-3")
			w.configure("cp-1", "  env: {GREETING: hello}")
			m := w.fleet.Machine("cp-2")
			w.fleet.Inject(talossim.Fault{Machine: "cp-1", Method: "ApplyConfiguration", As: talossim.Slow(time.Second), Then: m.PowerOff})
			w.onTell = func(text string) {
				if strings.HasPrefix(text, "reboot cp-1: waits until it is free to be disturbed: ") && tt.back {
					m.PowerOn()
				}
			}
			_, err := w.apply(t.Context(), nodeplan.Policy{})
			w.check()
			steps := w.steps()
			rebooted := strings.Contains(steps, "reboot cp-1")
			switch {
			case tt.want == "" && (err != nil || !rebooted):
				t.Errorf("%s: %v", steps, err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || diag.CodeOf(err) != diag.NotReady || rebooted):
				t.Errorf("%s: %v", steps, err)
			}
		}))
	}
}

// TestLastLookIsFresh: a look that took long is made again.
func TestLastLookIsFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.made("cp-1", "cp-2", "cp-3")
		w.configure("cp-1", "  env: {GREETING: hello}")
		w.fleet.Inject(talossim.Fault{Machine: "cp-1", Method: "ApplyConfiguration", As: talossim.Slow(time.Second), Then: func() {
			for _, method := range []string{"EtcdStatus", "EtcdMemberList"} {
				w.fleet.Inject(talossim.Fault{Machine: "cp-3", Method: method, As: talossim.Slow(25 * time.Second)})
			}
		}})
		var notified []string
		w.onTell = func(text string) { notified = append(notified, text) }
		w.mustApply(nodeplan.Policy{})
		if !slices.Contains(notified, "reboot cp-1: waits until it is free to be disturbed: the look at etcd took 50s, which is too long") || !strings.Contains(w.steps(), "reboot cp-1") {
			t.Errorf("told: %q", notified)
		}
	})
}

// TestLastLookUnanswered: that the control plane itself does not say how its etcd
// is, is no reason to think that it is not missed.
func TestLastLookUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.made("cp-1", "cp-2", "cp-3")
		w.configure("cp-2", "  env: {GREETING: hello}")
		w.fleet.Inject(talossim.Fault{Machine: "cp-2", Method: "ApplyConfiguration", As: talossim.Slow(time.Second), Then: func() {
			w.fleet.Machine("cp-3").Cut()
			w.fleet.Inject(talossim.Fault{Machine: "cp-2", Method: "EtcdStatus", Times: -1, As: talossim.Status(codes.Unavailable, "error reading from server: EOF")})
		}})
		_, err := w.apply(t.Context(), nodeplan.Policy{})
		w.check()
		if steps := w.steps(); err == nil || !strings.Contains(err.Error(), "node cp-2: not free to be disturbed") || strings.Contains(steps, "reboot cp-2") {
			t.Errorf("%s: %v", steps, err)
		}
	})
}
