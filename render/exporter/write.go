package exporter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/source"
)

// Modes of what is written: only its owner may read it.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// CheckTarget refuses a directory that is not new, or empty: an export never mixes with
// what is there.
func CheckTarget(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0:
		return nil
	case err != nil:
		return diag.New(diag.Pos{File: dir}, "cannot be written to: %v", source.Reason(err)).WithCause(err).WithCode(diag.Usage)
	}
	return diag.New(diag.Pos{File: dir}, "is not empty: it has %s", entries[0].Name()).
		WithHint("name a new directory with --dir").WithCode(diag.Usage)
}

// Stage is the directory that an export is written to before it gets its name. A run that
// is killed leaves it there.
func Stage(dir string) string {
	dir = filepath.Clean(dir)
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".export")
}

// Write writes the files into a new directory, as a whole: beside it first, then under
// its name.
func (e *Export) Write(dir string) error {
	if err := CheckTarget(dir); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	stage := Stage(dir)
	fail := func(err error) error {
		return errors.Join(diag.New(diag.Pos{File: dir}, "cannot be written: %v", source.Reason(err)).WithCause(err), os.RemoveAll(stage))
	}
	if err := os.RemoveAll(stage); err != nil { // of one that was interrupted
		return fail(err)
	}
	for _, name := range e.Names() {
		to := filepath.Join(stage, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), dirMode); err != nil {
			return fail(err)
		}
		if err := atomicfile.Create(to, e.Files[name], fileMode); err != nil {
			return fail(err)
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty one
		return fail(err)
	}
	if err := os.Rename(stage, dir); err != nil {
		return fail(err)
	}
	return nil
}
