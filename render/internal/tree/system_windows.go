package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// unlinkable are the errors of a file system, or of its rules, that has no hard link
// for a file.
var unlinkable = []error{
	windows.ERROR_ACCESS_DENIED, windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED,
	windows.ERROR_TOO_MANY_LINKS, windows.ERROR_NOT_SAME_DEVICE,
}

// unexchangeable are the errors of a file system that cannot exchange two directories:
// none of Windows' can.
var unexchangeable = []error{errors.ErrUnsupported}

// errOtherDevice says that a path cannot be renamed to where another file system is.
const errOtherDevice = windows.ERROR_NOT_SAME_DEVICE

// exchange swaps two paths in one step.
func exchange(string, string) error { return errors.ErrUnsupported }

// link gives a file another name.
func link(from, to string) error { return os.Link(from, to) }

// mkdir makes a directory. Who may use it, the one above it says.
func mkdir(path string, perm fs.FileMode) error { return os.Mkdir(path, perm) }

// writeNew writes a file that must not exist. One that is read-only cannot be removed on
// Windows, so none is made.
func writeNew(path string, data []byte, perm fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm|0o200)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// removeAll removes a path with what is below it, also what is read-only, and is content
// if there is nothing.
func removeAll(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		entries, err := os.ReadDir(path)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := removeAll(filepath.Join(path, e.Name())); err != nil {
				return err
			}
		}
	}
	return os.Remove(path) // which also removes what is read-only
}

// syncPath makes a file last. The names in a directory are in the journal of the file
// system, and cannot be handed to the disk.
func syncPath(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncAll makes files and directories last.
func syncAll(paths []string) error { return syncEach(paths) }
