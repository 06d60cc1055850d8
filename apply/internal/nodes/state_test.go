package nodes_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/schemas"
)

// TestMachinesThatExist: a plan says of a machine in maintenance mode whether it
// is another one, or has another disk; if that could not be read, it is only not
// reached.
func TestMachinesThatExist(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(w *world)
		refused string // empty: the plan is not refused
		away    bool
	}{
		{"all fits", func(w *world) { w.disk = "/dev/sda" }, "", false},
		{"another machine", func(w *world) { w.machines[0].Match = schemas.InfraMatch{UUID: "x"} },
			"another machine, or a node of another cluster, answers (another machine has its address: its UUID is ", true},
		{"no such disk", func(w *world) { w.disk = "/dev/nvme9n1" },
			"node/cp-1: it has no disk /dev/nvme9n1, but /dev/sda", true},
		{"the disks cannot be read", func(w *world) {
			w.disk = "/dev/sda"
			w.fleet.Inject(talossim.Fault{Method: "List", Times: -1, As: talossim.Status(codes.Unavailable, "not now")})
		}, "", true},
	} {
		t.Run(tt.name, inBubble(func(t *testing.T) {
			w := newWorld(t)
			w.boot("cp-1")
			tt.prepare(w)
			p, err := w.plan(t.Context(), w.cluster(), nodeplan.Policy{})
			if err != nil {
				t.Fatal(err)
			}
			text := refusals(p)
			if tt.refused == "" && text != "" || !strings.Contains(text, tt.refused) || len(p.Unreachable) > 0 != tt.away {
				t.Errorf("refused %q, away %v\n%s", text, p.Unreachable, p)
			}
		}))
	}
}

// TestLostInALook: a look is repeated if an answer was lost, and once only.
func TestLostInALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.made("cp-1", "w-1")
		for lost, away := range map[int]int{1: 0, 2: 1} {
			for _, method := range []string{"Get", "Read"} {
				w.fleet.Inject(talossim.Fault{Machine: "w-1", Method: method, Times: lost, As: talossim.Drop()})
				p, err := w.plan(t.Context(), w.cluster(), nodeplan.Policy{})
				w.fleet.ClearFaults()
				if err != nil || len(p.Unreachable) != away {
					t.Errorf("%d answers to %s lost: away %v, %v", lost, method, p, err)
				}
			}
		}
	})
}
