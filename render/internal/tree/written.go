package tree

import (
	"bytes"
	"crypto/sha256"

	"github.com/talosgen/talosgen/internal/rendered"
)

// Written reads the files of a tree that are as a lock says.
type Written struct {
	reader  *reader
	digests map[string]string
}

// OpenWritten opens the tree in a directory. Whether the lock is to be trusted,
// only [rendered.Lock.VerifySeal] can tell.
func OpenWritten(dir string, lock *rendered.Lock) (*Written, error) {
	r, err := newReader(dir, false)
	if err != nil {
		return nil, readProblem(dir, err)
	}
	w := &Written{reader: r, digests: make(map[string]string, len(lock.Outputs))}
	for _, e := range lock.Outputs {
		w.digests[e.Path] = e.Digest
	}
	return w, nil
}

// Close closes the tree.
func (w *Written) Close() { w.reader.close() }

// File returns a file, if the lock names it, and it is as the lock says.
func (w *Written) File(path string) (File, bool) {
	digest, known := w.digests[path]
	if !known {
		return File{}, false
	}
	data, err := w.reader.read(path)
	if err != nil || !rendered.Matches(digest, sha256.Sum256(data)) {
		return File{}, false // it was changed by hand, or is gone: a render makes it again
	}
	return File{Path: path, Data: bytes.Clone(data)}, true
}
