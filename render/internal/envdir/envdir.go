// Package envdir puts an environment in its place in a repository, as a whole.
package envdir

import (
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/source"
)

// Write puts files of an environment in place, by their paths from the root of the
// repository: beside it first, then under its name. An environment with files in it
// stays.
func Write(r *source.Repo, env string, files map[string][]byte) error {
	place := path.Join(source.EnvsDir, env)
	dir := filepath.Join(r.Root(), source.EnvsDir, "."+env+".import")
	fail := func(err error) error {
		return errors.Join(diag.New(diag.Pos{File: place}, "cannot be written: %v", source.Reason(err)).WithCause(err), os.RemoveAll(dir))
	}
	if err := os.RemoveAll(dir); err != nil { // of one that was interrupted
		return fail(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if source.AllSecret(name) {
			if err := sopsage.CheckWhole(name, files[name]); err != nil {
				return err
			}
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, place+"/")))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fail(err)
		}
		if err := atomicfile.Create(to, files[name], 0o644); err != nil {
			return fail(err)
		}
	}
	to := filepath.Join(r.Root(), source.EnvsDir, env)
	if info, err := os.Lstat(to); err == nil && info.IsDir() {
		if err := os.Remove(to); err != nil { // an empty one; with files in it, it stays
			return fail(err)
		}
	}
	if err := os.Rename(dir, to); err != nil {
		return fail(err)
	}
	return nil
}
