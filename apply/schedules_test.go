package apply

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/faultproxy"
)

var (
	faultSeed      = flag.Int64("fault-seed", -1, "run one schedule of faults of TestFaultSchedules, of this seed")
	faultSchedules = flag.Int64("fault-schedules", 0, "how many schedules of faults TestFaultSchedules runs; 0 for as many as the level has")
)

// schedule is what goes wrong on the way to Hetzner in one run, by chance.
type schedule struct {
	*rand.Rand
	text []string
}

// effects are what can go wrong with a call.
func (s *schedule) effect(now func() time.Time) (string, faultproxy.Effect) {
	refused := []struct {
		status int
		code   string
	}{
		{http.StatusForbidden, "resource_limit_exceeded"}, {http.StatusUnprocessableEntity, "resource_unavailable"},
		{http.StatusLocked, "locked"}, {http.StatusConflict, "conflict"}, {http.StatusTooManyRequests, "rate_limit_exceeded"},
		{http.StatusInternalServerError, "server_error"}, {http.StatusNotFound, "not_found"}, {http.StatusUnprocessableEntity, "placement_error"},
	}
	switch n := s.IntN(7); n {
	case 0:
		return "lost before", faultproxy.LostBefore()
	case 1:
		return "lost after", faultproxy.LostAfter()
	case 2:
		return "empty", faultproxy.Empty()
	case 3:
		return "cut", faultproxy.Cut()
	case 4:
		return "a page", faultproxy.Page(502 + s.IntN(3))
	case 5:
		lag := time.Duration(1+s.IntN(30)) * time.Second
		return "stale by " + lag.String(), faultproxy.Stale(lag, now)
	default:
		r := refused[s.IntN(len(refused))]
		return r.code, faultproxy.Refuse(r.status, r.code)
	}
}

// inject adds one to three faults to what is on the way.
func (s *schedule) inject(to *faultproxy.Proxy, now func() time.Time) {
	for range 1 + s.IntN(3) {
		name, as := s.effect(now)
		f := faultproxy.Fault{Skip: s.IntN(60), As: as}
		if s.IntN(2) == 0 {
			f.Method, f.Skip = http.MethodPost, s.IntN(12)
		}
		if strings.HasPrefix(name, "stale") {
			f.Method, f.Skip, f.Times = "", 0, -1
		}
		s.text = append(s.text, fmt.Sprintf("%s, %s after %d", name, f.Method, f.Skip))
		to.Inject(f)
	}
}

// TestFaultSchedules: one to three faults by chance befall a run that makes a
// cluster, or one that gives its servers another type. After at most two runs
// without faults the cluster is as it should be: nothing is left to do, no server
// is off, nobody is let in, no lock is held and no node is cordoned.
func TestFaultSchedules(t *testing.T) {
	seeds := []int64{*faultSeed}
	if *faultSeed < 0 {
		seeds = nil
		n := *faultSchedules
		if n == 0 {
			n = int64(schedules())
		}
		for i := range n {
			seeds = append(seeds, i)
		}
	}
	var failed atomic.Int64 // runs with faults
	t.Cleanup(func() {
		t.Logf("%d of %d runs with faults failed", failed.Load(), len(seeds))
		if len(seeds) > 1 && failed.Load() == 0 {
			t.Error("no fault did anything")
		}
	})
	for _, seed := range seeds {
		t.Run(fmt.Sprint("fault-seed=", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if err := bySchedule(t, seed); err != nil {
					failed.Add(1)
				}
			})
		})
	}
}

// bySchedule lets the faults of a seed befall a run, and wants all to be well then. It
// returns what the run ended with.
func bySchedule(t *testing.T, seed int64) error {
	s, policy := newSite(t), Policy{Consent: plan.Consent{AllowPowerOff: true}}
	random := &schedule{Rand: rand.New(rand.NewPCG(uint64(seed), 15))}
	defer func() {
		if t.Failed() {
			t.Logf("faults: %s", strings.Join(random.text, "; "))
		}
	}()
	s.tree("cp-1", "worker-1")
	if seed%2 == 1 {
		s.mustApply(policy)
		s.kind = "cpx32"
		s.tree("cp-1", "worker-1")
	}
	random.inject(s.faults, s.fleet.Clock().Now)
	_, err := s.attempt(policy)
	s.faults.Clear()
	s.converges(policy)
	return err
}

// attempt applies, and returns what that ended with, whatever it was.
func (s *site) attempt(policy Policy) (*Plan, error) {
	s.Helper()
	session := s.session()
	defer func() { _ = session.Close(context.Background()) }()
	p, err := session.Plan(s.Context(), policy)
	if err != nil {
		return nil, err
	}
	_, err = session.Apply(s.Context(), p, policy, s.owner())
	return p, err
}

// converges wants all to be well after at most two runs.
func (s *site) converges(policy Policy) {
	s.Helper()
	var err error
	for range 2 {
		// What a dead run has held is free by then, and what it has started is up.
		if serr := s.fleet.Clock().Sleep(s.Context(), 15*time.Minute); serr != nil {
			s.Fatal(serr)
		}
		if _, err = s.attempt(policy); err == nil {
			break
		}
	}
	if err != nil {
		s.Fatalf("the second run without faults: %v", err)
	}
	p, err := s.attempt(policy)
	if err != nil || !p.Empty() {
		s.Fatalf("something is left to do: %v\n%s", err, p)
	}
	s.unnoted()
	s.closed()
	if nodes := s.cordoned(); len(nodes) > 0 {
		s.Errorf("cordoned: %v", nodes)
	}
	if v := s.fleet.Violations(); len(v) > 0 {
		s.Error(v)
	}
}
