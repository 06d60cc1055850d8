package nodes_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/meta"

	nodeplan "github.com/talosgen/talosgen/apply/plan/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
	"github.com/talosgen/talosgen/internal/sim/talossim"
)

// late are intents that are read as they were before, until some moment.
type late struct {
	*intents
	before bootstrap.Intent
	until  time.Time
}

// Intent is the one of before.
func (l *late) Intent(ctx context.Context) (bootstrap.Intent, error) {
	if time.Now().Before(l.until) {
		return l.before, nil
	}
	return l.intents.Intent(ctx)
}

// TestStaleIntents: a run is killed as soon as it has told a node to begin etcd, and
// the next one, which holds the lock, follows at once. It reads for half a minute what
// was recorded before the call, or before anything was, and calls nobody a second
// time; nor does it with a tree that would have it begin elsewhere.
func TestStaleIntents(t *testing.T) {
	for _, tt := range []struct {
		name    string
		before  bootstrap.Intent
		dropped string // from the tree of the second run
		refused string
	}{
		{"as before the call", bootstrap.Intent{Node: "cp-1", Machine: "1"}, "", ""},
		{"as before anything", bootstrap.Intent{}, "", ""},
		{"with another tree", bootstrap.Intent{}, "cp-1", "another run began to bootstrap cp-1, which this tree does not have"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.every = 2 * time.Second
				w.boot("cp-1", "cp-2", "cp-3")
				ctx, kill := context.WithCancel(t.Context())
				defer kill()
				w.fleet.ResetCalls()
				w.fleet.Inject(talossim.Fault{Method: "Bootstrap", After: true, As: talossim.Drop(), Then: kill})
				if _, err := w.apply(ctx, nodeplan.Policy{}); err == nil {
					t.Fatal("it was not killed")
				}
				if tt.dropped != "" {
					w.drop(tt.dropped)
				}
				c := w.cluster()
				c.Intents = &late{w.intents, tt.before, time.Now().Add(30 * time.Second)}
				_, err := w.applyAs(t.Context(), c, nodeplan.Policy{Allow: []string{tt.dropped}})
				if tt.refused == "" && err != nil || tt.refused != "" && (err == nil || !strings.Contains(err.Error(), tt.refused)) {
					t.Errorf("%v\n%s", err, strings.Join(w.told, "\n"))
				}
				w.pass(5 * time.Minute)
				w.check()
				w.calledOnce()
				if tt.refused != "" {
					return
				}
				w.mustApply(nodeplan.Policy{})
				for _, m := range w.machines {
					if note := w.fleet.Machine(m.Name).Meta(meta.UserReserved3); note != "" {
						t.Errorf("%s still has the note %q", m.Name, note)
					}
				}
			})
		})
	}
}
