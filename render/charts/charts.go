package charts

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/internal/chartlock"
	"github.com/talosgen/talosgen/render/internal/source"
)

// State is a chart or manifest from elsewhere, and what became of it.
type State struct {
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

func stateOf(e chartlock.Entry, state string) State {
	return State{Name: cmp.Or(e.Name, e.URL), Version: e.Resolved, Repository: e.Repository, File: path.Join(chartlock.Dir, e.FileName()), Digest: e.Digest, State: state}
}

// chartFiles are the charts of a repository, and the lock that pins them.
type chartFiles struct {
	repo *render.Repo
	src  *source.Repo
}

func open(r *render.Repo) *chartFiles { return &chartFiles{repo: r, src: r.Repository()} }

func (c *chartFiles) write(name string, data []byte) error {
	at := c.src.Files.Path(name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return diag.New(diag.Pos{File: path.Dir(name)}, "cannot be made: %v", source.Reason(err)).WithCause(err)
	}
	if _, err := atomicfile.Write(at, data, 0o644); err != nil {
		return diag.New(diag.Pos{File: name}, "cannot be written: %v", source.Reason(err)).WithCause(err)
	}
	return nil
}

// each does something for each entry of the lock.
func (c *chartFiles) each(do func(*chartlock.Store, chartlock.Entry) (state string, err error)) ([]State, error) {
	lock, err := c.lock()
	if err != nil {
		return nil, err
	}
	store := &chartlock.Store{Lock: lock, Files: c.src.Files, Cache: c.src.Process.ChartCache}
	var states []State
	var problems diag.List
	for _, e := range lock.Entries {
		state, err := do(store, e)
		problems.AddErr(err)
		if err == nil {
			states = append(states, stateOf(e, state))
		}
	}
	return states, problems.Err()
}

// lock reads the lock; an empty one if there is none.
func (c *chartFiles) lock() (*chartlock.Lock, error) {
	text, err := c.src.Files.ReadFile(chartlock.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, diag.New(diag.Pos{File: chartlock.File}, "cannot be read: %v", source.Reason(err)).WithCause(err)
	}
	return chartlock.Parse(text)
}
