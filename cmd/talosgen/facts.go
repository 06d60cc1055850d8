package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/talosgen/talosgen/apply"
	"github.com/talosgen/talosgen/internal/atomicfile"
	"github.com/talosgen/talosgen/internal/diag"
)

// keepFacts writes the public addresses that a run learned to the sources of
// the environment, where the next render finds them, and removes the file when
// there are none any more. Those of a simulated project mean nothing elsewhere,
// and are not kept.
func (w *world) keepFacts(s *cloudSession, r *apply.Report) error {
	content, known, err := r.Facts()
	if err != nil || !known || s.local {
		return err
	}
	name := path.Join("envs", s.env.Name(), "facts.yaml")
	file := filepath.Join(s.root, filepath.FromSlash(name))
	if content == nil {
		switch err := os.Remove(file); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return diag.New(diag.Pos{File: name}, "cannot be removed: %v", reasonOf(err)).WithCause(err)
		}
		w.say("removed %s: commit that, and render %s", name, s.env.Name())
		return nil
	}
	written, err := atomicfile.Write(file, content, 0o644)
	if err != nil {
		return diag.New(diag.Pos{File: name}, "cannot be written: %v", reasonOf(err)).WithCause(err)
	}
	if written {
		w.say("wrote %s: commit it, and render %s, for certificates that hold these addresses", name, s.env.Name())
	}
	return nil
}
