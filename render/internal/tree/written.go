package tree

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
)

// Written is a tree that was written before, with its lock.
type Written struct {
	Lock *rendered.Lock
	dir  string
	text []byte            // of the lock
	same map[string]string // digests of the files that are as the lock says
}

// OpenWritten reads the tree in a directory, and finds the files that are as its lock
// says. Whether the lock is to be trusted, only [rendered.Lock.VerifySeal] can tell.
// The error is [fs.ErrNotExist] if there is no lock; see [rendered.ParseLock] for the
// others.
func OpenWritten(dir, current string) (*Written, error) {
	file := filepath.Join(dir, rendered.LockName)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, readProblem(file, err)
	}
	lock, err := rendered.ParseLock(file, text, current)
	if err != nil {
		return nil, err
	}
	differences, err := compareOutputs(lock.Outputs, dir)
	if err != nil {
		return nil, err
	}
	w := &Written{Lock: lock, dir: dir, text: text, same: make(map[string]string, len(lock.Outputs))}
	for _, e := range lock.Outputs {
		w.same[e.Path] = e.Digest
	}
	for _, d := range differences {
		delete(w.same, d.Path)
	}
	return w, nil
}

// Has reports whether the lock names a file, and it is as the lock says.
func (w *Written) Has(path string) bool { return w.same[path] != "" }

// Complete reports whether all files are as the lock says.
func (w *Written) Complete() bool { return len(w.same) == len(w.Lock.Outputs) }

// ReadFrom reports whether the tree was made of exactly these sources.
func (w *Written) ReadFrom(inputs []rendered.Entry) bool {
	return len(compareInputs(w.Lock.Inputs, inputs)) == 0
}

// Keep returns entries for files of the tree that stay as they are, for
// [rendered.NewLock].
func (w *Written) Keep(paths []string) []rendered.Entry {
	entries := make([]rendered.Entry, len(paths))
	for i, path := range paths {
		entries[i] = rendered.Entry{Path: path, Digest: w.same[path]}
	}
	return entries
}

// Read returns a file of the tree; false if it is no longer as the lock says.
func (w *Written) Read(path string) ([]byte, bool) {
	data, err := os.ReadFile(filepath.Join(w.dir, path))
	return data, err == nil && w.Has(path) && rendered.Matches(w.same[path], sha256.Sum256(data))
}

// Rewrite is [Write] of a tree of which some files stay as they are. It fails with
// [diag.Conflict] if another tree is there by now.
func (w *Written) Rewrite(files []File, kept []string, lock *rendered.Lock) (Summary, error) {
	return rewrite(realSystem, filepath.Clean(w.dir), w.with(files, kept), lock)
}

// with are files, and those that stay.
func (w *Written) with(files []File, kept []string) wanted {
	all := wanted{files: slices.Clip(files), from: w, kept: make(map[string]bool, len(kept))}
	for _, path := range kept {
		all.files = append(all.files, File{Path: path})
		all.kept[path] = true
	}
	return all
}

// wanted are the files of a tree in the making.
type wanted struct {
	files []File
	from  *Written        // nil if none is kept
	kept  map[string]bool // files of from that stay: their data is not known
}

// still is the problem that the tree from which files are kept is no longer there.
func (w wanted) still(dir string, lock []byte) error {
	if len(w.kept) == 0 || string(w.from.text) == string(lock) {
		return nil
	}
	return diag.New(diag.Pos{File: dir}, "was changed while it was rendered; nothing was written").
		WithHint("render again").WithCode(diag.Conflict)
}
