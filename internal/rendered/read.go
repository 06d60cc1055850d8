package rendered

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// Tree is a rendered tree in memory: its lock, and the content of every file
// that the lock names, as the lock says. Whether the lock is to be trusted,
// only [Lock.VerifySeal] can tell.
type Tree struct {
	Lock  *Lock
	Files map[string][]byte // by path, as in the lock
}

// clusterDirs hold what the cluster itself decrypts.
var clusterDirs = []string{"addons/", "flux/", "argocd/"}

// ForCluster reports whether the secrets of a file of the tree, named as in the
// lock, are for the cluster itself too: its data key is not the operators'.
func ForCluster(file string) bool {
	return slices.ContainsFunc(clusterDirs, func(dir string) bool { return strings.HasPrefix(file, dir) })
}

// Read reads a tree; dir is its directory for messages, current the version of
// this talosgen. Files that the lock does not name are not looked at. All that
// differ from the lock, are gone or cannot be read are reported at once. A tree
// that was rendered for another environment than the last part of dir is refused.
func Read(tree fs.FS, dir, current string) (*Tree, error) {
	file := path.Join(dir, LockName)
	data, err := fs.ReadFile(tree, LockName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, diag.New(diag.Pos{File: file}, "does not exist").
			WithHint("render the environment first, and commit what it writes").WithCause(err)
	}
	if err != nil {
		return nil, unreadable(file, err)
	}
	lock, err := ParseLock(file, data, current)
	if err != nil {
		return nil, err
	}
	if p := lock.checkPlace(dir); p != nil {
		return nil, p
	}
	t := &Tree{Lock: lock, Files: make(map[string][]byte, len(lock.Outputs))}
	var problems diag.List
	for _, e := range lock.Outputs {
		problems.Add(t.read(tree, dir, e))
	}
	return t, problems.Err()
}

// read adds a file, if it is as the lock says.
func (t *Tree) read(tree fs.FS, dir string, e Entry) *diag.Problem {
	at := path.Join(dir, e.Path)
	info, err := fs.Lstat(tree, e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return edited(at, "is missing")
	case err != nil:
		return unreadable(at, err)
	case !info.Mode().IsRegular():
		return edited(at, "is not a file of its own")
	}
	data, err := fs.ReadFile(tree, e.Path)
	switch {
	case err != nil:
		return unreadable(at, err)
	case !Matches(e.Digest, sha256.Sum256(data)):
		return edited(at, "is not what render wrote")
	}
	t.Files[e.Path] = data
	return nil
}

func edited(file, what string) *diag.Problem {
	return diag.New(diag.Pos{File: file}, "%s", what).
		WithHint("rendered files are never edited: run `talosgen render`, or restore the file from Git").
		WithCode(diag.Secrets)
}

func unreadable(file string, err error) *diag.Problem {
	var at *fs.PathError
	reason := err
	if errors.As(err, &at) {
		reason = at.Err // the problem has the path
	}
	return diag.New(diag.Pos{File: file}, "cannot be read: %v", reason).WithCause(err)
}
