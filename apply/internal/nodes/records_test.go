package nodes_test

import (
	"context"
	"sync"

	"github.com/talosgen/talosgen/apply/internal/nodes"
	"github.com/talosgen/talosgen/apply/plan/nodes/newonce"
)

// records keep what was ever configured: by the ids of machines, as labels of
// servers do, or else by the names of nodes.
type records struct {
	bound bool

	mu  sync.Mutex
	now map[string]newonce.Record
	err error // of the next write; nil: there is none
	// All were made by an older talosgen, which has recorded nothing.
	older      bool
	unreadable string // why they cannot be read; empty: they can
}

// byName keeps the records from now on by the names of nodes, as those of machines
// that exist already are.
func (r *records) byName(w *world) {
	r.mu.Lock()
	defer r.mu.Unlock()
	named := map[string]newonce.Record{}
	for _, m := range w.machines {
		if have, ok := r.now[m.ID]; ok {
			named[m.Name] = have
		}
	}
	r.bound, r.now = false, named
}

// lose forgets all records.
func (r *records) lose() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = map[string]newonce.Record{}
}

func (r *records) key(m nodes.Machine) string {
	if r.bound {
		return m.ID
	}
	return m.Name
}

// Of takes a machine without a record for one that was just made.
func (r *records) Of(m nodes.Machine) newonce.Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.older:
		return newonce.Record{State: newonce.Unrecorded, Bound: r.bound}
	case r.unreadable != "":
		return newonce.Record{State: newonce.Unreadable, Reason: r.unreadable}
	}
	if have, ok := r.now[r.key(m)]; ok {
		have.Bound = r.bound
		return have
	}
	return newonce.Record{State: newonce.Blank, Bound: r.bound}
}

func (r *records) set(m nodes.Machine, record newonce.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.now[r.key(m)] = record
	}
	return r.err
}

func (r *records) Sending(_ context.Context, m nodes.Machine, fingerprint string) error {
	return r.set(m, newonce.Record{State: newonce.Sending, Fingerprint: fingerprint})
}

func (r *records) Arrived(_ context.Context, machines ...nodes.Machine) error {
	for _, m := range machines {
		if err := r.set(m, newonce.Record{State: newonce.Sent}); err != nil {
			return err
		}
	}
	return nil
}

func (r *records) Forgotten(_ context.Context, m nodes.Machine) error {
	return r.set(m, newonce.Record{State: newonce.Blank})
}

func newRecords(bound bool) *records {
	return &records{bound: bound, now: map[string]newonce.Record{}}
}
