package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/apply/plan/watch"
	"github.com/talosgen/talosgen/internal/diag"
)

// watchPolicy is the policy that flags have without being given.
func watchPolicy() watch.Policy {
	return watch.Policy{Heal: watch.Heals(), Interval: time.Minute, DeadAfter: 10 * time.Minute, Most: 1, Per: time.Hour}
}

// watching is a watch over the cluster of a site: what the loop of the command does.
type watching struct {
	*site
	watcher *Watcher
	log     []string
}

func newWatching(s *site) *watching {
	return &watching{site: s, watcher: &Watcher{Policy: watchPolicy()}}
}

// turn is one turn of the watch. It returns what it did, and its error.
func (w *watching) turn(unsafe ...string) (did []string, err error) {
	w.Helper()
	return w.turnOf(w.Context(), w.session(), unsafe...)
}

// turnOf is a turn in a session.
func (w *watching) turnOf(ctx context.Context, s *Session, unsafe ...string) (did []string, err error) {
	w.Helper()
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	seen, err := w.watcher.Observe(ctx, s, unsafe...)
	if err != nil {
		w.log = append(w.log, fmt.Sprint(w.fleet.Clock().Now().Format("15:04:05"), " look: ", oneLine(err)))
		return nil, err
	}
	w.log = append(w.log, fmt.Sprintf("%s %+v", seen.Found.At.Format("15:04:05"), seen.Decided))
	err = w.watcher.Heal(ctx, s, seen, w.owner(), func(r *Report, _ error) { did = append(did, r.Lines()...) })
	if err != nil || len(did) > 0 {
		w.log = append(w.log, fmt.Sprint("  did ", did, " ", err))
	}
	return did, err
}

// turns lets the watch take turns for some time, and returns what it did.
func (w *watching) turns(d time.Duration) (did []string) {
	w.Helper()
	for end := w.fleet.Clock().Now().Add(d); w.fleet.Clock().Now().Before(end); {
		did = append(did, w.must()...)
		w.pass(time.Minute)
	}
	return did
}

// must is a turn that ends well, or finds the lock taken.
func (w *watching) must() []string {
	w.Helper()
	did, err := w.turn()
	if err != nil && diag.CodeOf(err) != diag.Conflict {
		w.Fatalf("%v\n%s", err, w.said())
	}
	if v := w.fleet.Violations(); len(v) > 0 {
		w.Fatal(v)
	}
	return did
}

// said is what the watch found and did.
func (w *watching) said() string { return strings.Join(w.log, "\n") }

// pass lets time pass.
func (w *watching) pass(d time.Duration) {
	w.Helper()
	if err := w.fleet.Clock().Sleep(w.Context(), d); err != nil {
		w.Fatal(err)
	}
	w.sim.Settle()
	w.fleet.Settle()
}

// ids are the servers by their names.
func (w *watching) ids() map[string]string {
	ids := map[string]string{}
	for _, s := range w.list("servers") {
		ids[fmt.Sprint(s["name"])] = fmt.Sprint(s["id"])
	}
	return ids
}

// watchedCluster is a cluster whose servers are older than anything that counts.
func watchedCluster(t *testing.T, names ...string) *watching {
	t.Helper()
	s := newSite(t)
	s.tree(names...)
	s.mustApply(Policy{})
	w := newWatching(s)
	w.pass(2 * time.Hour)
	return w
}

// TestWatchReplaces: a worker that dies is made anew, after it was dead for long enough,
// and only that one.
func TestWatchReplaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchedCluster(t, "cp-1", "worker-1", "worker-2", "worker-3")
		if did := w.turns(5 * time.Minute); len(did) > 0 {
			t.Fatalf("a cluster that is well: %v", did)
		}
		before := w.ids()
		w.fleet.Machine("worker-2").Cut()
		if did := w.turns(9 * time.Minute); len(did) > 0 {
			t.Fatalf("too early: %v\n%s", did, w.said())
		}
		did := w.turns(10 * time.Minute)
		if !slices.Contains(did, "replace server/worker-2") || !slices.Contains(did, "configure worker-2") {
			t.Fatalf("it did %v\n%s", did, w.said())
		}
		after := w.ids()
		for name, id := range before {
			if same := after[name] == id; same == (name == "worker-2") {
				t.Errorf("%s was %s, and is %s", name, id, after[name])
			}
		}
		w.pass(10 * time.Minute)
		if p, _ := w.mustApply(Policy{}); !p.Empty() {
			t.Errorf("left is\n%s", p)
		}
	})
}
