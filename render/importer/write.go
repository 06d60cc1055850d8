package importer

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/render/internal/source"
)

// there is the environment as it is in the repository; nil if it is not there.
func (i *importing) there() (*source.Environment, error) {
	names, err := i.src.Files.ReadDir(i.path(""))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0 {
		return nil, nil
	}
	return i.src.ReadEnvironment(i.env)
}

// write puts the environment in place, as a whole: beside it first, then under its name.
func (i *importing) write(files map[string][]byte) error {
	stage := "." + i.env + ".import"
	dir := filepath.Join(i.src.Root(), source.EnvsDir, stage)
	fail := func(err error) error {
		return errors.Join(diag.New(diag.Pos{File: i.path("")}, "cannot be written: %v", source.Reason(err)).WithCause(err), os.RemoveAll(dir))
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
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(name, i.path("")+"/")))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return fail(err)
		}
		if err := atomicfile.Create(to, files[name], 0o644); err != nil {
			return fail(err)
		}
	}
	to := filepath.Join(i.src.Root(), source.EnvsDir, i.env)
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
