package source

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/tree"
)

// ReadLock reads the lock of an environment's rendered tree; [fs.ErrNotExist] if
// nothing is rendered.
func (r *Repo) ReadLock(env string) (*rendered.Lock, error) {
	lock, err := tree.ReadLock(r.TreeDir(env), r.Process.Version)
	return lock, r.Local(err)
}

// KeysOf prepares the keys for an environment without reading its sources.
func (r *Repo) KeysOf(env string) (*sopsage.Keys, error) {
	e, err := r.ReadPart(env, ClusterFile)
	if err != nil {
		return nil, err
	}
	if err := e.FindKeys(); err != nil {
		return nil, err
	}
	return e.Keys, nil
}

// Committed reads the rendered files that the lock names, also one that a merge
// left damaged. Those that skip wants left out are there, without what is in them.
func (r *Repo) Committed(env string, skip func(path string) bool) (map[string][]byte, error) {
	paths, err := tree.Owned(r.TreeDir(env), r.Process.Version)
	if err != nil {
		return nil, r.Local(err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		if skip(path) {
			files[path] = nil
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.TreeDir(env), filepath.FromSlash(path)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, diag.New(diag.Pos{File: path}, "cannot be read: %v", Reason(err)).WithCause(err)
		}
		files[path] = data
	}
	return files, nil
}

// CheckRendered tells whether an environment has a rendered tree. One that does not
// even exist is another mistake.
func (r *Repo) CheckRendered(env string) error {
	dir := path.Join(RenderedDir, env)
	lock := path.Join(dir, rendered.LockName)
	switch _, err := r.Files.Stat(lock); {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := r.Inputs(env); diag.CodeOf(err) == diag.Usage {
			return err
		}
		return diag.New(diag.Pos{File: dir}, "is not rendered yet").WithHint("talosgen render %s", env).WithCode(diag.Usage).WithCause(err)
	case err != nil:
		return diag.New(diag.Pos{File: lock}, "cannot be read: %v", Reason(err)).WithCause(err)
	}
	return nil
}
