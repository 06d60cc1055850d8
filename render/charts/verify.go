package charts

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// Verify compares charts/ and the cache with the lock, and the lock with
// what the addons need. It opens no connection.
func Verify(ctx context.Context, r *render.Repo) ([]State, error) {
	c := open(r)
	states, err := c.each(func(store *chartlock.Store, e chartlock.Entry) (string, error) {
		a, err := store.Find(e)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "missing", nil
		case err != nil:
			return "", err
		case strings.HasPrefix(a.Path, chartlock.Dir+"/"):
			return "present", nil
		}
		return "cached", nil
	})
	var problems diag.List
	problems.AddErr(err)
	for _, s := range states {
		if s.State == "missing" {
			problems.Add(diag.New(diag.Pos{File: s.File}, "is neither in %s/ nor in the cache", chartlock.Dir).
				WithHint("`talosgen charts vendor` gets it"))
		}
	}
	lock, err := c.lock()
	if err != nil {
		return states, problems.Err()
	}
	needed, err := c.repo.ChartsNeeded(ctx)
	problems.AddErr(err)
	for _, ref := range needed.References {
		if _, found := lock.Find(ref); !found && ref.SHA256 == "" {
			problems.Add(diag.New(diag.Pos{File: chartlock.File}, "has no %s", ref).WithHint("`talosgen charts lock` adds it"))
		}
	}
	if err != nil {
		return states, problems.Err()
	}
	for _, e := range lock.Unneeded(needed.References) {
		problems.Add(diag.New(diag.Pos{File: chartlock.File}, "pins %s, which no addon needs", e.Reference).WithHint("`talosgen charts lock` removes it"))
	}
	unused, err := c.unused(lock, needed)
	problems.AddErr(err)
	for _, s := range unused {
		problems.Add(diag.New(diag.Pos{File: s.File}, "is used by no addon, and %s does not pin it", chartlock.File).WithHint("`talosgen charts vendor --prune` removes it"))
	}
	return append(states, unused...), problems.Err()
}
