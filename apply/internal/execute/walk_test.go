package execute_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// faults are what goes wrong with calls.
var faults = []hetznersim.Outcome{
	hetznersim.Drop(),
	hetznersim.Status(503, "unavailable", "please wait"),
	hetznersim.Status(500, "server_error", "an error occurred"),
	hetznersim.Status(409, "conflict", "the resource has changed"),
	hetznersim.Status(423, "locked", "another action is running"),
	hetznersim.ActionError("action_failed", "the action failed"),
}

// TestRandomWalks: whatever a cluster should be like, whatever somebody does to
// the project by hand, whatever goes wrong on the way and wherever runs are
// killed: an undisturbed run ends in the project that it would have made from
// nothing, and the next plan is empty.
func TestRandomWalks(t *testing.T) {
	seeds := 200
	if testing.Short() {
		seeds = 15
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := &walk{r: rand.New(rand.NewPCG(seed, 5)), project: newProject(t, hetznersim.Options{})}
			defer func() {
				if t.Failed() {
					t.Logf("what happened:\n%s", strings.Join(w.story, "\n"))
				}
			}()
			spec := plantest.Random(w.r, "prod")
			for range 2 {
				w.disturbed(spec)
				w.drift()
				spec = spec.Change(w.r)
			}
			w.disturbed(spec)
			w.tell("undisturbed")
			w.sim.ClearFaults()
			if w.stranded(spec) {
				_, err := w.run(infrastructure(spec), everything).apply(t.Context())
				if err == nil || !strings.Contains(err.Error(), "not one of the cluster's control planes would stay") {
					t.Errorf("all control planes are taken away: %v", err)
				}
				return
			}
			w.run(infrastructure(spec), everything).mustApply()

			fresh := newProject(t, hetznersim.Options{})
			fresh.run(infrastructure(spec), everything).mustApply()
			got, want := w.fingerprint(), fresh.fingerprint()
			if spec.Private && !spec.API && !spec.FloatingIP {
				// A record whose addresses are gone stays until there is one again.
				got = record.ReplaceAllString(got, "")
			}
			if spec.Private && spec.Standby {
				// The route stays with the gateway that it was led to.
				got = strings.ReplaceAll(got, `\"gateway\":\"10.0.64.101\"`, `\"gateway\":\"10.0.64.100\"`)
			}
			got = left.ReplaceAllString(got, "")
			if got != want {
				t.Errorf("it is not as if made from nothing:\n%s", differences(got, want))
			}
		})
	}
}

// stranded reports whether none of the control planes that are there is wanted: of several
// the first was never made, and now there is to be one only. As any may have etcd, apply
// takes none of them away then.
func (w *walk) stranded(spec plantest.Spec) bool {
	w.Helper()
	there, err := w.others.Server.AllWithOpts(context.Background(), hcloud.ServerListOpts{ListOpts: hcloud.ListOpts{LabelSelector: "cluster=prod,role=controlplane"}})
	if err != nil {
		w.Fatal(err)
	}
	wanted := map[string]bool{}
	for _, s := range infrastructure(spec).Servers {
		wanted[s.Name] = true
	}
	return len(there) > 0 && !slices.ContainsFunc(there, func(s *hcloud.Server) bool { return wanted[s.Name] })
}

var record = regexp.MustCompile("(?m)^zones/.*\"name\":\"api.prod\".*\n")

// left are volumes of servers that are no longer wanted: what is on them stays.
var left = regexp.MustCompile("(?m)^volumes .*\"server\":null.*\n")

type walk struct {
	*project
	r     *rand.Rand
	story []string
}

func (w *walk) tell(format string, args ...any) {
	w.story = append(w.story, fmt.Sprintf(format, args...))
}

// disturbed runs an apply in which some calls fail, and which may be killed.
func (w *walk) disturbed(spec plantest.Spec) {
	w.sim.ClearFaults()
	w.sim.ResetCalls()
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	for range w.r.IntN(4) {
		f := hetznersim.Fault{Call: 1 + w.r.IntN(150), As: faults[w.r.IntN(len(faults))], When: hetznersim.When(w.r.IntN(2))}
		f.Then = func() { w.tell("call %d fails (%d)", f.Call, f.When) }
		w.sim.Inject(f)
	}
	if w.r.IntN(3) == 0 {
		w.sim.Inject(hetznersim.Fault{Call: 1 + w.r.IntN(200), As: hetznersim.Drop(), Then: kill, When: hetznersim.When(w.r.IntN(2))})
	}
	r := w.run(infrastructure(spec), everything)
	r.parallel = 1 + w.r.IntN(4)
	_, err := r.apply(ctx)
	w.tell("apply %+v: %v", spec, err)
}

// drift lets somebody do some things by hand.
func (w *walk) drift() {
	w.sim.ClearFaults()
	d := &drifter{w.project, context.Background()}
	for range w.r.IntN(5) {
		one := drifts[w.r.IntN(len(drifts))]
		w.tell("%s", one.name)
		one.do(d, w.r)
		if w.r.IntN(2) == 0 {
			w.clock.Advance(time.Minute)
		}
	}
	w.clock.Advance(time.Hour) // a killed run's lock has expired by then
}
