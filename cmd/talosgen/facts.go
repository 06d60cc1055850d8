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

// saveFacts writes the public addresses that a run learned to the sources of
// the environment, where the next render finds them, and removes the file when
// there are none any more. Those of a simulated project mean nothing elsewhere,
// and are not kept.
func (s *session) saveFacts(r *apply.Report) error {
	if s.local {
		return nil
	}
	file := &repoFacts{root: s.root, env: s.env.Name()}
	kept, err := file.Read()
	if err != nil {
		return err
	}
	content, known, err := r.Facts(kept)
	if err != nil || !known {
		return err
	}
	if err := file.Write(content); err != nil {
		return err
	}
	s.reportFacts(file, "for certificates that hold these addresses")
	return nil
}

// reportFacts says what became of a file of facts, and what it is to be committed
// and rendered for.
func (s *session) reportFacts(f *repoFacts, why string) {
	switch {
	case f == nil:
	case f.removed:
		s.out.say("removed %s: commit that, and render %s", f.name(), f.env)
	case f.written:
		s.out.say("wrote %s: commit it, and render %s, %s", f.name(), f.env, why)
	}
}

// factsFile is where it is kept which machines that exist already were configured.
// What becomes of simulated ones means nothing elsewhere, and is not kept.
func factsFile(root string, env *apply.Environment, local bool) *repoFacts {
	if local || len(env.Infrastructure.Machines) == 0 {
		return nil
	}
	return &repoFacts{root: root, env: env.Name()}
}

// repoFacts is the facts.yaml of an environment in the repository.
type repoFacts struct {
	root, env        string
	written, removed bool // the last change, if there was one
}

func (f *repoFacts) name() string { return path.Join("envs", f.env, "facts.yaml") }

func (f *repoFacts) file() string { return filepath.Join(f.root, filepath.FromSlash(f.name())) }

// Read returns the content; nothing if there is no such file.
func (f *repoFacts) Read() ([]byte, error) {
	content, err := os.ReadFile(f.file())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, unreadable(f.name(), err)
	}
	return content, nil
}

// Write replaces the content, and removes a file without any.
func (f *repoFacts) Write(content []byte) error {
	if content == nil {
		switch err := os.Remove(f.file()); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return diag.New(diag.Pos{File: f.name()}, "cannot be removed: %v", reasonOf(err)).WithCause(err)
		}
		f.written, f.removed = false, true
		return nil
	}
	written, err := atomicfile.Write(f.file(), content, 0o644)
	if err != nil {
		return diag.New(diag.Pos{File: f.name()}, "cannot be written: %v", reasonOf(err)).WithCause(err)
	}
	if written {
		f.written, f.removed = true, false
	}
	return nil
}
