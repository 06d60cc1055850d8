package apply

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/apply/internal/cloud"
	"github.com/talosgen/talosgen/apply/plan/nodes/bootstrap"
)

// The notes that say which node was chosen to be bootstrapped.
const (
	noteNode    = "bootstrap-node"
	noteMachine = "bootstrap-machine"
	// Of an etcd that is made from a snapshot: which.
	noteSnapshot = "bootstrap-snapshot"
	// Which boot was called, and when.
	noteCalled = "bootstrap-called"
	noteDone   = "bootstrap-done"
	yes        = "yes"
)

// notedIntents keep the intent as labels at Hetzner Cloud. What this run has
// recorded is true: it holds the lock, and what is read may be older.
type notedIntents struct {
	notes    cloud.Notes
	recorded *bootstrap.Intent
}

// Intent reads it.
func (n *notedIntents) Intent(ctx context.Context) (bootstrap.Intent, error) {
	if n.recorded != nil {
		return *n.recorded, nil
	}
	notes, err := n.notes.Read(ctx)
	i := bootstrap.Intent{Node: notes[noteNode], Machine: notes[noteMachine], Snapshot: notes[noteSnapshot], Done: notes[noteDone] == yes}
	boot, at, _ := strings.Cut(notes[noteCalled], "_")
	if seconds, parse := strconv.ParseInt(at, 10, 64); parse == nil {
		i.CalledBoot, i.CalledAt = boot, seconds
	}
	return i, err
}

// Record writes it.
func (n *notedIntents) Record(ctx context.Context, i bootstrap.Intent) error {
	done := ""
	if i.Done {
		done = yes
	}
	called := ""
	if i.CalledBoot != "" && !i.Done {
		called = fmt.Sprintf("%s_%d", i.CalledBoot, i.CalledAt)
	}
	n.recorded = nil // until it is certain
	err := n.notes.Write(ctx, map[string]string{
		noteNode: i.Node, noteMachine: i.Machine, noteSnapshot: i.Snapshot, noteCalled: called, noteDone: done,
	})
	if err == nil {
		if called == "" { // as it is read
			i.CalledBoot, i.CalledAt = "", 0
		}
		n.recorded = &i
	}
	return err
}

// memoryIntents keep the intent as long as a run. Machines that exist already have
// no other place before there is a cluster; all runs that have the same tree
// choose the same node, and etcd that serves says that it was done.
type memoryIntents struct{ intent bootstrap.Intent }

// Intent returns it.
func (h *memoryIntents) Intent(context.Context) (bootstrap.Intent, error) { return h.intent, nil }

// Record keeps it.
func (h *memoryIntents) Record(_ context.Context, i bootstrap.Intent) error {
	h.intent = i
	return nil
}
