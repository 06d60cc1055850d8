// Package atomicfile writes single files so that a reader, a crash or a full
// disk never meets half a file: either the old content is there, or the new.
//
// The rendered tree is not written with it (that is exchanged as a whole, see
// render/internal/tree); sources such as keyrings and secret files are.
package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces the content of a file and its permissions, or creates it. A
// file that already has this content is not touched at all, and false is
// returned. A symbolic link is followed: its target is replaced, the link stays.
func Write(path string, data []byte, perm fs.FileMode) (written bool, err error) {
	path, err = target(path)
	if err != nil {
		return false, err
	}
	old, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(old, data):
		return false, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	if err := place(path, whole(data), perm, os.Rename); err != nil {
		return false, err
	}
	return true, nil
}

// Create writes a file that must not exist yet. Anything that is already at
// that path, even a dangling link, is left alone, and the error is
// [fs.ErrExist].
func Create(path string, data []byte, perm fs.FileMode) error {
	// A look first spares the temporary file; the link in place decides.
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return place(path, whole(data), perm, os.Link)
}

// CreateStream is [Create] for content that is written piece by piece. If write
// fails there is no file.
func CreateStream(path string, perm fs.FileMode, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return place(path, write, perm, os.Link)
}

// whole writes content that is in memory.
func whole(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// target follows a symbolic link, so that replacing a file keeps the link.
func target(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, nil // what is wrong with the path, reading it will say
	}
	return filepath.EvalSymlinks(path)
}

// place writes to a temporary file beside path and then gives it its
// name with the function given: a rename replaces, a link does not.
func place(path string, write func(io.Writer) error, perm fs.FileMode, name func(from, to string) error) error {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // after a rename there is nothing left to remove
	if err := fill(temp, write, perm); err != nil {
		return err
	}
	if err := name(temp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// fill writes, sets the permissions whatever the umask is, and makes both last.
func fill(f *os.File, write func(io.Writer) error, perm fs.FileMode) error {
	err := write(f)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes a new name in a directory last. On Windows names are in the journal of the
// file system, and no directory can be handed to the disk.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
