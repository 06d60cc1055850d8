package render

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/chartfetch"
	"github.com/talosgen/talosgen/render/internal/chartlock"
	"github.com/talosgen/talosgen/render/internal/source"
)

// Network is what charts and manifests are fetched with. No other method of a
// repository opens connections than those that take one.
type Network struct {
	*chartfetch.Fetcher
	// Keep puts something into the cache of this machine, by its digest. It may
	// be nil.
	Keep func(digest string, data []byte) error
}

// ChartFetcher holds the transport, credentials and clock of a [Network].
type ChartFetcher = chartfetch.Fetcher

// Credentials are user names and passwords by host.
type Credentials = chartfetch.Credentials

// RegistryCredentials reads the credentials of a Docker configuration. The hosts
// in helpers have theirs in another program, which is not asked.
func RegistryCredentials(text []byte) (found Credentials, helpers []string, err error) {
	return chartfetch.ParseDockerConfig(text)
}

// NetrcCredentials reads the credentials of a .netrc file.
func NetrcCredentials(text []byte) Credentials { return chartfetch.ParseNetrc(text) }

// ChartState is a chart or manifest from elsewhere, and what became of it.
type ChartState struct {
	Name       string `json:"name"`              // of the chart, or the URL
	Version    string `json:"version,omitempty"` // of the chart
	Repository string `json:"repository,omitempty"`
	File       string `json:"file"`   // that holds it if it is vendored
	Digest     string `json:"sha256"` // in hex
	// State is what was found or done: locked, kept, changed (another digest for
	// the same version), removed; vendored, present, cached, fetched; missing,
	// unused.
	State string `json:"state"`
}

func chartState(e chartlock.Entry, state string) ChartState {
	return ChartState{Name: cmp.Or(e.Name, e.URL), Version: e.Resolved, Repository: e.Repository, File: path.Join(chartlock.Dir, e.FileName()), Digest: e.Digest, State: state}
}

// LockCharts writes charts/charts.lock: what the addons of all environments are
// made of that comes from elsewhere. What is locked already stays as it is,
// unless update is set; what nobody needs any more goes.
func (r *Repo) LockCharts(ctx context.Context, n Network, update bool) ([]ChartState, error) {
	old, err := r.chartLock()
	if err != nil {
		return nil, err
	}
	needed, err := r.addonSources(ctx)
	if err != nil {
		return nil, err
	}
	lock := &chartlock.Lock{}
	var states []ChartState
	var problems diag.List
	for _, ref := range needed.references {
		before, known := old.Find(ref)
		if known && !update && (ref.SHA256 == "" || ref.SHA256 == before.Digest) {
			lock.Entries = append(lock.Entries, before)
			states = append(states, chartState(before, "kept"))
			continue
		}
		e, data, err := n.Resolve(ctx, ref)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		problems.AddErr(n.keep(e.Digest, data))
		lock.Entries = append(lock.Entries, e)
		states = append(states, chartState(e, lockState(before, e, known)))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	if err := r.writeChartLock(lock); err != nil {
		return nil, err
	}
	gone, err := r.removeUnpinned(old, lock)
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

func (n Network) keep(digest string, data []byte) error {
	if n.Keep == nil {
		return nil
	}
	return n.Keep(digest, data)
}

func (r *Repo) writeChartLock(lock *chartlock.Lock) error {
	text, err := lock.Encode()
	if err != nil {
		return err
	}
	if _, err := r.src.Files.Stat(chartlock.File); errors.Is(err, fs.ErrNotExist) && len(lock.Entries) == 0 {
		return nil // a repository without charts needs none
	}
	return r.writeChart(chartlock.File, text)
}

func (r *Repo) writeChart(name string, data []byte) error {
	at := r.src.Files.Path(name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return diag.New(diag.Pos{File: path.Dir(name)}, "cannot be made: %v", source.Reason(err)).WithCause(err)
	}
	if _, err := atomicfile.Write(at, data, 0o644); err != nil {
		return diag.New(diag.Pos{File: name}, "cannot be written: %v", source.Reason(err)).WithCause(err)
	}
	return nil
}

// VendorCharts puts everything that the lock pins into charts/. What is there
// already is checked, and left alone. Files that no addon uses are listed, and
// removed with prune.
func (r *Repo) VendorCharts(ctx context.Context, n Network, prune bool) ([]ChartState, error) {
	states, err := r.eachChart(func(store *chartlock.Store, e chartlock.Entry) (string, error) {
		if _, err := r.src.Files.Stat(path.Join(chartlock.Dir, e.FileName())); err == nil {
			_, err := store.Find(e)
			return "present", err
		}
		data, _, err := r.obtain(ctx, n, store, e)
		if err != nil {
			return "", err
		}
		return "vendored", r.writeChart(path.Join(chartlock.Dir, e.FileName()), data)
	})
	if err != nil {
		return states, err
	}
	unused, err := r.pruneCharts(ctx, prune)
	return append(states, unused...), err
}

// FetchCharts puts everything that the lock pins, and that is not vendored,
// into the cache of this machine.
func (r *Repo) FetchCharts(ctx context.Context, n Network) ([]ChartState, error) {
	return r.eachChart(func(store *chartlock.Store, e chartlock.Entry) (string, error) {
		if _, err := r.src.Files.Stat(path.Join(chartlock.Dir, e.FileName())); err == nil {
			_, err := store.Find(e)
			return "present", err
		}
		_, state, err := r.obtain(ctx, n, store, e)
		return state, err
	})
}

// obtain gets an entry from the cache, else from where it comes; the cache keeps
// it.
func (r *Repo) obtain(ctx context.Context, n Network, store *chartlock.Store, e chartlock.Entry) (data []byte, state string, err error) {
	if a, err := store.Find(e); err == nil {
		return a.Data, "cached", nil
	}
	if data, err = n.Get(ctx, e); err != nil {
		return nil, "", err
	}
	return data, "fetched", n.keep(e.Digest, data)
}

// VerifyCharts compares charts/ and the cache with the lock, and the lock with
// what the addons need. It opens no connection.
func (r *Repo) VerifyCharts(ctx context.Context) ([]ChartState, error) {
	states, err := r.eachChart(func(store *chartlock.Store, e chartlock.Entry) (string, error) {
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
	lock, err := r.chartLock()
	if err != nil {
		return states, problems.Err()
	}
	needed, err := r.addonSources(ctx)
	problems.AddErr(err)
	for _, ref := range needed.references {
		if _, found := lock.Find(ref); !found && ref.SHA256 == "" {
			problems.Add(diag.New(diag.Pos{File: chartlock.File}, "has no %s", ref).WithHint("`talosgen charts lock` adds it"))
		}
	}
	if err != nil {
		return states, problems.Err()
	}
	for _, e := range lock.Unneeded(needed.references) {
		problems.Add(diag.New(diag.Pos{File: chartlock.File}, "pins %s, which no addon needs", e.Reference).WithHint("`talosgen charts lock` removes it"))
	}
	unused, err := r.unusedCharts(lock, needed)
	problems.AddErr(err)
	for _, s := range unused {
		problems.Add(diag.New(diag.Pos{File: s.File}, "is used by no addon, and %s does not pin it", chartlock.File).WithHint("`talosgen charts vendor --prune` removes it"))
	}
	return append(states, unused...), problems.Err()
}

// eachChart does something for each entry of the lock.
func (r *Repo) eachChart(do func(*chartlock.Store, chartlock.Entry) (state string, err error)) ([]ChartState, error) {
	lock, err := r.chartLock()
	if err != nil {
		return nil, err
	}
	store := &chartlock.Store{Lock: lock, Files: r.src.Files, Cache: r.src.World.ChartCache}
	var states []ChartState
	var problems diag.List
	for _, e := range lock.Entries {
		state, err := do(store, e)
		problems.AddErr(err)
		if err == nil {
			states = append(states, chartState(e, state))
		}
	}
	return states, problems.Err()
}

// chartLock reads the lock; an empty one if there is none.
func (r *Repo) chartLock() (*chartlock.Lock, error) {
	text, err := r.src.Files.ReadFile(chartlock.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.New(diag.Pos{File: chartlock.File}, "cannot be read: %v", source.Reason(err)).WithCause(err)
	}
	return chartlock.Parse(text)
}
