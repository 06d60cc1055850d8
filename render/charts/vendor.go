package charts

import (
	"context"
	"path"

	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// Vendor puts everything that the lock pins into charts/. What is there
// already is checked, and left alone. Files that no addon uses are listed, and
// removed with prune.
func Vendor(ctx context.Context, r *render.Repo, n Network, prune bool) ([]State, error) {
	c := open(r)
	states, err := c.each(func(store *chartlock.Store, e chartlock.Entry) (string, error) {
		if _, err := c.src.Files.Stat(path.Join(chartlock.Dir, e.FileName())); err == nil {
			_, err := store.Find(e)
			return "present", err
		}
		data, _, err := c.obtain(ctx, n, store, e)
		if err != nil {
			return "", err
		}
		return "vendored", c.write(path.Join(chartlock.Dir, e.FileName()), data)
	})
	if err != nil {
		return states, err
	}
	unused, err := c.prune(ctx, prune)
	return append(states, unused...), err
}

// Fetch puts everything that the lock pins, and that is not vendored,
// into the cache of this machine.
func Fetch(ctx context.Context, r *render.Repo, n Network) ([]State, error) {
	c := open(r)
	return c.each(func(store *chartlock.Store, e chartlock.Entry) (string, error) {
		if _, err := c.src.Files.Stat(path.Join(chartlock.Dir, e.FileName())); err == nil {
			_, err := store.Find(e)
			return "present", err
		}
		_, state, err := c.obtain(ctx, n, store, e)
		return state, err
	})
}

// obtain gets an entry from the cache, else from where it comes; the cache keeps
// it.
func (c *chartFiles) obtain(ctx context.Context, n Network, store *chartlock.Store, e chartlock.Entry) (data []byte, state string, err error) {
	if a, err := store.Find(e); err == nil {
		return a.Data, "cached", nil
	}
	if data, err = n.Get(ctx, e); err != nil {
		return nil, "", err
	}
	return data, "fetched", n.keep(e.Digest, data)
}
