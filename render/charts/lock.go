package charts

import (
	"context"
	"errors"
	"io/fs"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// Lock writes charts/charts.lock: what the addons of all environments are
// made of that comes from elsewhere. What is locked already stays as it is,
// unless update is set; what nobody needs any more goes.
func Lock(ctx context.Context, r *render.Repo, n Network, update bool) ([]State, error) {
	c := open(r)
	old, err := c.lock()
	if err != nil {
		return nil, err
	}
	needed, err := c.repo.ChartsNeeded(ctx)
	if err != nil {
		return nil, err
	}
	lock := &chartlock.Lock{}
	var states []State
	var problems diag.List
	for _, ref := range needed.References {
		before, known := old.Find(ref)
		if known && !update && (ref.SHA256 == "" || ref.SHA256 == before.Digest) {
			lock.Entries = append(lock.Entries, before)
			states = append(states, stateOf(before, "kept"))
			continue
		}
		e, data, err := n.Resolve(ctx, ref)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		problems.AddErr(n.keep(e.Digest, data))
		lock.Entries = append(lock.Entries, e)
		states = append(states, stateOf(e, lockState(before, e, known)))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	if err := c.writeLock(lock); err != nil {
		return nil, err
	}
	gone, err := c.removeUnpinned(old, lock)
	return append(states, gone...), err
}

func lockState(before, now chartlock.Entry, known bool) string {
	switch {
	case !known:
		return "locked"
	case before.Digest == now.Digest:
		return "kept"
	case before.Resolved == now.Resolved:
		return "changed" // the same version is something else now
	}
	return "locked"
}

func (c *chartFiles) writeLock(lock *chartlock.Lock) error {
	text, err := lock.Encode()
	if err != nil {
		return err
	}
	if _, err := c.src.Files.Stat(chartlock.File); errors.Is(err, fs.ErrNotExist) && len(lock.Entries) == 0 {
		return nil // a repository without charts needs none
	}
	return c.write(chartlock.File, text)
}
