package apply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/talosgen/talosgen/apply/image"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	kubefaults "github.com/talosgen/talosgen/internal/sim/kubesim/faultmachine"
	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/schemas"
)

// kubePatience is how long a client of the Kubernetes API waits for an answer.
const kubePatience = 30 * time.Second

// behind is the key of the API in the context of a request that passes the machine.
type behind struct{}

// kubernetesFaults puts a fault machine before the API of Kubernetes on each node.
func (s *site) kubernetesFaults() *kubefaults.Machine {
	m := kubefaults.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api, _ := r.Context().Value(behind{}).(http.Handler)
		api.ServeHTTP(w, r)
	}), s.fleet.Clock(), kubePatience)
	s.fleet.Front(func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			m.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), behind{}, api)))
		})
	})
	return m
}

// nodeOutcomes are what a call of a node comes to that goes wrong.
var nodeOutcomes = map[string]talossim.Outcome{
	"drops":            talossim.Drop(),
	"does not answer":  talossim.Hang(),
	"is slow":          talossim.Slow(20 * time.Second),
	"is not available": talossim.Status(codes.Unavailable, "connection refused"),
	"refuses":          talossim.Status(codes.PermissionDenied, "not authorized"),
	"is not ready":     talossim.Status(codes.FailedPrecondition, "not ready"),
	"is broken":        talossim.Status(codes.Internal, "broken"),
}

// nodesFail lets calls of nodes go wrong, one to three times each.
func (w *week) nodesFail() (what string) {
	names := slices.Sorted(maps.Keys(nodeOutcomes))
	for range 1 + w.random.IntN(3) {
		name := names[w.random.IntN(len(names))]
		f := talossim.Fault{
			Machine: []string{"", "cp-1", "worker-*"}[w.random.IntN(3)], Method: []string{"", "", "Version", "Get", "ApplyConfiguration", "GET *", "List"}[w.random.IntN(7)],
			Skip: w.random.IntN(12), Times: 1 + w.random.IntN(3), After: w.random.IntN(2) == 0, As: nodeOutcomes[name],
		}
		w.fleet.Inject(f)
		what += fmt.Sprintf(" %s %s %s after %d, %d times, effect %v;", f.Machine, f.Method, name, f.Skip, f.Times, f.After)
	}
	return what
}

// away lets a node be unreachable for a turn: cut off, or silent.
func (w *week) away() {
	w.Helper()
	m := w.fleet.Machine([]string{"cp-1", "worker-2"}[w.random.IntN(2)])
	if m == nil {
		return
	}
	if w.random.IntN(2) == 0 {
		m.Cut()
	} else {
		m.Silence()
	}
	_, _ = w.turn()
	m.Heal()
}

// life is that of a process: once it is over, nothing of it arrives any more.
type life struct {
	end  context.CancelFunc
	over atomic.Bool
}

var errOver = &net.OpError{Op: "read", Net: "tcp", Err: errors.New("the process is dead")}

// kill ends it.
func (l *life) kill() {
	l.over.Store(true)
	l.end()
}

// dial makes connections that end with it.
func (l *life) dial(next image.Dialer) image.Dialer {
	return func(ctx context.Context, address string) (net.Conn, error) {
		if l.over.Load() {
			return nil, errOver
		}
		c, err := next(ctx, address)
		if err != nil {
			return nil, err
		}
		return &lived{c, l}, nil
	}
}

// lived is a connection of a process.
type lived struct {
	net.Conn
	life *life
}

func (c *lived) Write(b []byte) (int, error) {
	if c.life.over.Load() {
		return 0, errOver
	}
	return c.Conn.Write(b)
}

// livedHTTP is the way to Hetzner of a process.
type livedHTTP struct {
	next http.RoundTripper
	life *life
}

func (l livedHTTP) RoundTrip(r *http.Request) (*http.Response, error) {
	if l.life.over.Load() {
		return nil, errOver
	}
	return l.next.RoundTrip(r)
}

// killed is a turn of a process that is killed at a call to Hetzner, or to nodes and
// Kubernetes, counted from the begin of the turn, before or after its effect. It reports
// whether it came so far.
func (w *watching) killed(call int, nodes, effect bool) bool {
	w.Helper()
	ctx, end := context.WithCancel(w.Context())
	defer end()
	l := &life{end: end}
	w.sim.ResetCalls()
	w.fleet.ResetCalls()
	if nodes {
		w.fleet.Inject(talossim.Fault{Call: call, After: effect, As: talossim.Drop(), Then: l.kill})
	} else {
		when := hetznersim.BeforeEffect
		if effect {
			when = hetznersim.AfterEffect
		}
		w.sim.Inject(hetznersim.Fault{Call: call, When: when, As: hetznersim.Drop(), Then: l.kill})
	}
	s := w.session(func(c *Cloud) {
		c.HTTP = livedHTTP{c.HTTP, l}
		c.Nodes.Dial, c.Builder.Dial = l.dial(c.Nodes.Dial), l.dial(c.Builder.Dial)
	})
	_, _ = w.turnOf(ctx, s)
	w.sim.ClearFaults()
	w.fleet.ClearFaults()
	return l.over.Load()
}

// ripe is a cluster in which something has drifted, and a worker is dead for long enough
// to be replaced in the next turn.
func ripe(t *testing.T) *watching {
	t.Helper()
	w := watchedCluster(t, "cp-1", "worker-1", "worker-2", "worker-3")
	w.fleet.Machine("worker-2").Cut()
	w.turns(10 * time.Minute)
	w.rulesDrift()
	return w
}

// TestWatchKilledAnywhere: a watch that is killed at any of the calls of a turn that mends
// drift and replaces a worker is gone on with by the next process. The levels below the
// nightly one take a sample.
func TestWatchKilledAnywhere(t *testing.T) {
	var calls [2]int // to Hetzner; to nodes and Kubernetes
	synctest.Test(t, func(t *testing.T) {
		w := ripe(t)
		w.sim.ResetCalls()
		w.fleet.ResetCalls()
		if did := w.must(); !slices.Contains(did, "replace server/worker-2") {
			t.Fatalf("it did %v", did)
		}
		calls = [2]int{len(w.sim.Calls()), len(w.fleet.Calls())}
	})
	pace := 1
	if os.Getenv("TALOSGEN_TESTENV_NIGHTLY") != "1" {
		pace = (calls[0] + calls[1]) / sampledKills
	}
	for k := pace/2 + 1; k <= calls[0]+calls[1]; k += pace {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := ripe(t)
				call, nodes := k, k > calls[0]
				if nodes {
					call -= calls[0]
				}
				if !w.killed(call, nodes, k%2 == 0) {
					t.Fatalf("it was not killed at call %d of %v", k, calls)
				}
				alive := w.has(schemas.ComponentSession, false)
				w.watcher = &Watcher{Policy: watchPolicy()} // another process
				w.pass(15 * time.Minute)                    // its lock has expired
				w.turns(25 * time.Minute)
				w.running()
				if alive { // it may have been a plan, which has no lock that expires
					if w.has(schemas.ComponentLock, false) || w.has(schemas.ComponentSession, true) {
						t.Errorf("left behind: %v", w.list("firewalls"))
					}
					w.pass(2 * time.Hour)
					w.turns(2 * time.Minute)
				}
				w.closed()
				if p, _ := w.mustApply(Policy{}); !p.Empty() {
					t.Errorf("left is\n%s\n%s", p, w.said())
				}
			})
		})
	}
}

// has reports whether there is a lock, or session access, of a run that has had the lock
// or has not: without it the run may live still, until its time is over.
func (w *watching) has(component string, heldLock bool) bool {
	return slices.ContainsFunc(w.list("firewalls"), func(f map[string]any) bool {
		labels, _ := f["labels"].(map[string]any)
		return labels[schemas.LabelComponent] == component && (labels[schemas.LabelPrefix+"held-lock"] != nil) == heldLock
	})
}

// sampledKills are about how many kills the levels below the nightly one try.
const sampledKills = 6
