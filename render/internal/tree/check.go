package tree

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
)

// Kind is how a file differs from the lock.
type Kind string

// The kinds of difference.
const (
	Changed Kind = "changed" // its content is not what the lock says
	Added   Kind = "added"   // the lock does not know it
	Removed Kind = "removed" // the lock knows it, but it is gone
)

// Difference is one file that is not as the lock says.
type Difference struct {
	Path   string
	Kind   Kind
	Output bool // a rendered file, else an input
}

// DigestFiles reads files below root and returns their entries, in the given
// order. All that cannot be read are reported at once.
func DigestFiles(root string, paths []string) ([]rendered.Entry, error) {
	r, err := newReader(root, true)
	if err != nil {
		return nil, readProblem(root, err)
	}
	defer r.close()
	entries := make([]rendered.Entry, len(paths))
	var problems diag.List
	for i, path := range paths {
		sum, err := r.digest(path)
		if err != nil {
			problems.Add(readProblem(path, err))
			continue
		}
		entries[i] = rendered.Entry{Path: path, Digest: rendered.DigestSum(sum)}
	}
	return entries, problems.Err()
}

// Source is a file that was read, or why it could not be.
type Source struct {
	Data []byte
	Err  error
}

// ReadFiles reads files below root, in the given order.
func ReadFiles(root string, paths []string) ([]Source, error) {
	r, err := newReader(root, true)
	if err != nil {
		return nil, readProblem(root, err)
	}
	defer r.close()
	files := make([]Source, len(paths))
	for i, path := range paths {
		data, err := r.read(path)
		files[i] = Source{bytes.Clone(data), err}
	}
	return files, nil
}

// ReadLock reads the lock of an environment's directory. The error is
// [fs.ErrNotExist] if there is none; see [rendered.ParseLock] for the others.
func ReadLock(dir, current string) (*rendered.Lock, error) {
	file := filepath.Join(dir, rendered.LockName)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, readProblem(file, err)
	}
	return rendered.ParseLock(file, data, current)
}

// Owned returns the paths of talosgen's files in an environment's directory,
// also if its lock is damaged; none if there is no lock.
func Owned(dir, current string) ([]string, error) {
	file := filepath.Join(dir, rendered.LockName)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, readProblem(file, err)
	}
	return rendered.Owned(file, data, current)
}

// Check compares the inputs as they are now (see [DigestFiles]), and the files
// in dir, with the lock. It needs no key: it tells whether the tree is fresh
// and as talosgen wrote it, while [rendered.Lock.VerifySeal] tells whether the
// lock is to be trusted. Files in dir that the lock does not name are not talosgen's,
// and no difference. Inputs come first; both parts are sorted by path.
func Check(lock *rendered.Lock, inputs []rendered.Entry, dir string) ([]Difference, error) {
	differences := compareInputs(lock.Inputs, inputs)
	outputs, err := compareOutputs(lock.Outputs, dir)
	return append(differences, outputs...), err
}

func compareInputs(locked, now []rendered.Entry) []Difference {
	var differences []Difference
	add := func(path string, kind Kind) {
		differences = append(differences, Difference{Path: path, Kind: kind})
	}
	if !slices.IsSortedFunc(now, func(a, b rendered.Entry) int { return cmp.Compare(a.Path, b.Path) }) {
		now = rendered.Sorted(now)
	}
	for len(locked) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || len(locked) > 0 && locked[0].Path < now[0].Path:
			add(locked[0].Path, Removed)
			locked = locked[1:]
		case len(locked) == 0 || now[0].Path < locked[0].Path:
			add(now[0].Path, Added)
			now = now[1:]
		default:
			if locked[0].Digest != now[0].Digest {
				add(now[0].Path, Changed)
			}
			locked, now = locked[1:], now[1:]
		}
	}
	return differences
}

func compareOutputs(locked []rendered.Entry, dir string) ([]Difference, error) {
	var differences []Difference
	add := func(path string, kind Kind) {
		differences = append(differences, Difference{Path: path, Kind: kind, Output: true})
	}
	r, err := newReader(dir, false)
	if err != nil && !isMissing(err) {
		return nil, readProblem(dir, err)
	}
	if err != nil {
		for _, e := range locked {
			add(e.Path, Removed)
		}
		return differences, nil
	}
	defer r.close()
	var problems diag.List
	for _, e := range locked {
		sum, err := r.digest(e.Path)
		switch {
		case err == nil && rendered.Matches(e.Digest, sum):
		case err == nil, isOddFile(err):
			add(e.Path, Changed)
		case isMissing(err):
			add(e.Path, Removed)
		default:
			problems.Add(readProblem(filepath.Join(dir, e.Path), err))
		}
	}
	return differences, problems.Err()
}
