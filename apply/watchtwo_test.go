package apply

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// ask makes a request as somebody else, past the faults.
func (w *watching) ask(method, path, body string) {
	w.Helper()
	request := httptest.NewRequest(method, "/v1"+path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+w.sim.Token())
	answer := httptest.NewRecorder()
	if w.sim.ServeHTTP(answer, request); answer.Code >= 300 {
		w.Fatalf("%s %s: %s", method, path, answer.Body)
	}
}

// deletions are the servers that were deleted since the last time anybody asked.
func (w *watching) deletions() (ids []string) {
	for _, c := range w.sim.Calls() {
		if id, is := strings.CutPrefix(c.Path, "/servers/"); is && c.Method == http.MethodDelete && c.Status < 300 {
			ids = append(ids, id)
		}
	}
	w.sim.ResetCalls()
	return ids
}

// TestWatchFlapping: a worker that dies, comes back and dies is told, and not replaced.
func TestWatchFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchedCluster(t, "cp-1", "worker-1", "worker-2", "worker-3")
		before := w.ids()
		for range 3 {
			w.fleet.Machine("worker-1").Cut()
			w.turns(6 * time.Minute)
			w.fleet.Machine("worker-1").Heal()
			w.turns(4 * time.Minute)
		}
		w.fleet.Machine("worker-1").Cut()
		w.turns(30 * time.Minute)
		if after := w.ids(); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("servers were %v, and are %v", before, after)
		}
		if said := w.said(); !strings.Contains(said, "worker-1 flaps: it was dead before") {
			t.Errorf("it said\n%s", said)
		}
		w.turns(time.Hour) // it has been dead for long now
		if w.ids()["worker-1"] == before["worker-1"] {
			t.Error("it is not replaced for ever")
		}
	})
}

// TestWatchTwo: of two watches that find the same worker dead, one replaces it, and the
// bound holds for both.
func TestWatchTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchedCluster(t, "cp-1", "worker-1", "worker-2", "worker-3", "worker-4")
		watchers := []*Watcher{&Watcher{Policy: watchPolicy()}, &Watcher{Policy: watchPolicy()}}
		w.fleet.Machine("worker-2").Cut()
		w.sim.ResetCalls()
		var deleted, conflicts []string
		for end := w.fleet.Clock().Now().Add(40 * time.Minute); w.fleet.Clock().Now().Before(end); {
			if w.fleet.Clock().Now().After(end.Add(-20 * time.Minute)) {
				w.fleet.Machine("worker-3").Cut() // one replacement an hour
			}
			for _, err := range w.atOnce(watchers) {
				switch {
				case diag.CodeOf(err) == diag.Conflict:
					conflicts = append(conflicts, err.Error())
				case err != nil:
					t.Fatal(err)
				}
			}
			deleted = append(deleted, w.deletions()...)
			w.pass(time.Minute)
		}
		if len(deleted) != 1 || len(conflicts) == 0 {
			t.Errorf("deleted %v, and met each other in %q", deleted, conflicts)
		}
		w.closed()
	})
}

// atOnce lets several watches take a turn at once, and returns their errors.
func (w *watching) atOnce(watchers []*Watcher) []error {
	w.Helper()
	sessions := make([]*Session, len(watchers))
	owners := make([]Owner, len(watchers))
	for i := range watchers {
		sessions[i] = w.session()
		owners[i] = w.owner()
	}
	failed := make([]error, len(watchers))
	var all sync.WaitGroup
	for i, watcher := range watchers {
		all.Go(func() {
			ctx := w.Context()
			seen, err := watcher.Observe(ctx, sessions[i])
			if err == nil {
				err = watcher.Heal(ctx, sessions[i], seen, owners[i], func(*Report, error) {})
			}
			failed[i] = errors.Join(err, sessions[i].Close(context.WithoutCancel(ctx)))
		})
	}
	all.Wait()
	return failed
}

// TestWatchDrift: firewall rules, labels and servers that are off are mended at once, and
// what is not committed is not.
func TestWatchDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchedCluster(t, "cp-1", "worker-1", "worker-2")
		w.drift()
		if did, err := w.turn("it is not committed"); err != nil || len(did) > 0 {
			t.Errorf("it did %v, %v", did, err)
		}
		did := w.must()
		slices.Sort(did)
		if len(did) != 2 || !strings.HasPrefix(did[0], "update firewall/demo-nodes") || did[1] != "update server/worker-1" {
			t.Errorf("it did %v\n%s", did, w.said())
		}
		w.pass(5 * time.Minute)
		w.running()
		w.closed()
		if did := w.must(); len(did) > 0 {
			t.Errorf("then it did %v", did)
		}
	})
}

// drift changes rules of the firewall, and switches a worker off.
func (w *watching) drift() {
	w.Helper()
	w.rulesDrift()
	w.powerOff(w.named("worker-1"))
}

// rulesDrift changes rules of the firewall.
func (w *watching) rulesDrift() {
	w.Helper()
	for _, f := range w.list("firewalls") {
		if f["name"] == "demo-nodes" {
			id, _ := f["id"].(float64)
			w.ask(http.MethodPost, "/firewalls/"+itoa(id)+"/actions/set_rules", `{"rules": [{"direction": "in", "protocol": "tcp", "port": "22", "source_ips": ["0.0.0.0/0"]}]}`)
		}
	}
}

// TestWatchKilled: a watch that is killed after it has deleted a server, and before there
// is another one, is gone on with by the next process.
func TestWatchKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchedCluster(t, "cp-1", "worker-1", "worker-2", "worker-3")
		w.fleet.Machine("worker-2").Cut()
		w.turns(9 * time.Minute)
		w.sim.Inject(hetznersim.Fault{Method: http.MethodPost, Path: "/servers", Times: -1, As: hetznersim.Status(403, "forbidden", "not now")})
		for range 4 {
			_, _ = w.turn()
			w.pass(time.Minute)
		}
		if w.named("worker-2") != nil {
			t.Fatalf("it is not deleted\n%s", w.said())
		}
		w.sim.ClearFaults()
		w.watcher = &Watcher{Policy: watchPolicy()} // another process
		w.pass(15 * time.Minute)
		did := w.turns(10 * time.Minute)
		if !slices.Contains(did, "create server/worker-2") || !slices.Contains(did, "configure worker-2") {
			t.Errorf("it did %v\n%s", did, w.said())
		}
		if p, _ := w.mustApply(Policy{}); !p.Empty() {
			t.Errorf("left is\n%s", p)
		}
	})
}
