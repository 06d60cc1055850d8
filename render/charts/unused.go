package charts

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/chartlock"
	"github.com/talosgen/talosgen/render/internal/source"
)

// vendoredName is the form of the names of vendored files: an archive, or a
// manifest with the beginning of its digest.
var vendoredName = regexp.MustCompile(`\.tgz$|-[0-9a-f]{8}\.[^.]+$`)

// removeUnpinned removes the vendored files of what one lock pins and another
// does not. A file that is something else than was pinned stays: it is somebody's
// own.
func (c *chartFiles) removeUnpinned(old, now *chartlock.Lock) ([]State, error) {
	kept := now.FileNames(nil)
	var states []State
	var problems diag.List
	for _, e := range old.Entries {
		if kept[e.FileName()] {
			continue
		}
		states = append(states, stateOf(e, "removed"))
		file := path.Join(chartlock.Dir, e.FileName())
		switch data, err := c.src.Files.ReadFile(file); {
		case err == nil && chartlock.Digest(data) == e.Digest:
			problems.AddErr(c.remove(file))
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			problems.Add(diag.New(diag.Pos{File: file}, "cannot be read: %v", source.Reason(err)).WithCause(err))
		}
	}
	return states, problems.Err()
}

// unused lists files in charts/ with names as vendored ones have, that
// neither the lock nor an addon of an environment names.
func (c *chartFiles) unused(lock *chartlock.Lock, needed chartlock.Needed) ([]State, error) {
	entries, err := c.src.Files.ReadDir(chartlock.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diag.New(diag.Pos{File: chartlock.Dir}, "cannot be read: %v", source.Reason(err)).WithCause(err)
	}
	pinned := lock.FileNames(needed.References)
	var unused []State
	for _, entry := range entries {
		file := path.Join(chartlock.Dir, entry.Name())
		if !entry.Type().IsRegular() || !vendoredName.MatchString(entry.Name()) || pinned[entry.Name()] || slices.Contains(needed.Paths, file) {
			continue
		}
		data, err := c.src.Files.ReadFile(file)
		if err != nil {
			return nil, diag.New(diag.Pos{File: file}, "cannot be read: %v", source.Reason(err)).WithCause(err)
		}
		unused = append(unused, State{Name: file, File: file, Digest: chartlock.Digest(data), State: "unused"})
	}
	return unused, nil
}

// prune lists what [chartFiles.unused] does, and removes it if it is told to.
func (c *chartFiles) prune(ctx context.Context, prune bool) ([]State, error) {
	lock, err := c.lock()
	if err != nil {
		return nil, err
	}
	needed, err := c.repo.ChartsNeeded(ctx)
	if err != nil {
		return nil, err
	}
	unused, err := c.unused(lock, needed)
	if err != nil || !prune {
		return unused, err
	}
	for i := range unused {
		if err := c.remove(unused[i].File); err != nil {
			return unused, err
		}
		unused[i].State = "removed"
	}
	return unused, nil
}

func (c *chartFiles) remove(file string) error {
	if err := os.Remove(c.src.Files.Path(file)); err != nil {
		return diag.New(diag.Pos{File: file}, "cannot be removed: %v", source.Reason(err)).WithCause(err)
	}
	return nil
}
