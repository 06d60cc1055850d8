// Package tree owns the written tree of an environment, rendered/<env>: how it
// is exchanged for a new one as a whole, the lock that names every input and
// output, and the seal that shows edits.
//
// Everything is complete in memory before [Write] is called. The new tree is
// staged beside the old one, in rendered/.talosgen-<env>, synced, and takes the
// place of the old one in one step. A run that is killed leaves at most that
// directory behind, which [Recover] or the next Write settles. Files in the
// tree that talosgen did not write, which is to say that the previous lock does
// not name, are carried over as they are.
package tree

import (
	"bytes"
	"os"
	"path/filepath"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
)

// File is one file of the tree, complete in memory.
type File struct {
	Path string // with slashes, from the environment's directory
	Data []byte
}

// Outputs returns the entries of files, for [rendered.NewLock].
func Outputs(files []File) []rendered.Entry {
	entries := make([]rendered.Entry, len(files))
	for i, f := range files {
		entries[i] = rendered.Entry{Path: f.Path, Digest: rendered.Digest(f.Data)}
	}
	return entries
}

// Summary says what a write did, by output; the lock is not among them. The
// lists are sorted.
type Summary struct {
	Added, Changed, Removed, Unchanged []string
	Written                            bool // false if the whole tree, lock included, was already as wanted
}

// Write makes the tree in dir consist of the files, the lock, and what talosgen
// did not write. If that is already so, nothing on disk is touched. Otherwise
// the tree is exchanged as a whole: after an error it is still the old one,
// unless the error says that the new one was written. Only one Write at a time
// can change a tree; others fail with [diag.Conflict].
//
// It refuses to overwrite a file that the previous lock does not name, and a
// tree that a newer talosgen than lock.Talosgen wrote.
func Write(dir string, files []File, lock *rendered.Lock) (Summary, error) {
	return write(realSystem, filepath.Clean(dir), files, lock)
}

func write(sys *system, dir string, files []File, lock *rendered.Lock) (Summary, error) {
	return rewrite(sys, dir, wanted{files: files}, lock)
}

func rewrite(sys *system, dir string, files wanted, lock *rendered.Lock) (Summary, error) {
	if err := recoverTree(sys, dir); err != nil {
		return Summary{}, err
	}
	p, err := makePlan(dir, files, lock)
	if err != nil || !p.summary.Written {
		return p.summary, err
	}
	s, err := openStaging(sys, dir)
	if err != nil {
		return Summary{}, err
	}
	defer s.close()
	if !p.holds() {
		// Another run changed the tree between the plan and the lock.
		if p, err = makePlan(dir, files, lock); err != nil || !p.summary.Written {
			return p.summary, err
		}
	}
	if err := p.execute(s); err != nil {
		return Summary{}, err
	}
	return p.summary, nil
}

// holds reports whether the tree that the plan was made for is still there.
func (p *plan) holds() bool {
	info, err := os.Lstat(p.dir)
	if err != nil || p.old == nil {
		return os.IsNotExist(err) && p.old == nil
	}
	lock, _ := os.ReadFile(p.path(rendered.LockName))
	return os.SameFile(info, p.old) && bytes.Equal(lock, p.oldLock)
}

// execute stages the planned tree and puts it in place.
func (p *plan) execute(s *staging) error {
	if err := p.stage(s.sys, s.tree()); err != nil {
		return err
	}
	if err := s.sys.syncAll(p.written); err != nil {
		return writeProblem(p.dir, err)
	}
	return s.swap(p.old == nil)
}

// writeProblem says what of the tree could not be written, and why.
func writeProblem(path string, err error) error {
	return diag.New(diag.Pos{File: path}, "cannot be written: %v", bare(err)).
		WithHint("the tree is as it was; check permissions and free space, then render again").
		WithCause(err)
}
