//go:build unix

package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// unlinkable are the errors of a file system, or of its rules, that has no hard link
// for a file.
var unlinkable = []error{unix.EPERM, unix.ENOTSUP, unix.EOPNOTSUPP, unix.ENOSYS, unix.EMLINK, unix.EXDEV}

// unexchangeable are the errors of a file system that cannot exchange two directories.
var unexchangeable = []error{unix.EINVAL, unix.ENOSYS, unix.ENOTSUP, unix.EOPNOTSUPP, unix.EXDEV}

// errOtherDevice says that a path cannot be renamed to where another file system, or
// another layer of one, is.
const errOtherDevice = unix.EXDEV

// link gives a file another name.
func link(from, to string) error { return unix.Link(from, to) }

// mkdir makes a directory whose permissions do not depend on the umask.
func mkdir(path string, perm fs.FileMode) error {
	if err := unix.Mkdir(path, uint32(perm.Perm())); err != nil {
		return err
	}
	return unix.Chmod(path, uint32(perm.Perm()))
}

// writeNew writes a file that must not exist, with permissions that do not
// depend on the umask.
func writeNew(path string, data []byte, perm fs.FileMode) error {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_CLOEXEC
	var fd int
	err := retry(func() (err error) {
		fd, err = unix.Open(path, flags, uint32(perm.Perm()))
		return err
	})
	if err != nil {
		return err
	}
	for len(data) > 0 && err == nil {
		err = retry(func() error {
			n, err := unix.Write(fd, data)
			data = data[max(n, 0):]
			return err
		})
	}
	if err == nil {
		err = unix.Fchmod(fd, uint32(perm.Perm()))
	}
	return errors.Join(err, unix.Close(fd))
}

// removeAll also removes directories that their owner made read-only.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	// Each directory is made writable before it is read, hence from the top.
	_ = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil // what cannot be changed, the removal reports
	})
	return os.RemoveAll(path)
}

// retry repeats a call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// syncPath makes a file, or the names in a directory, last.
func syncPath(path string) error {
	fd, err := openRetry(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	return errors.Join(retry(func() error { return unix.Fsync(fd) }), unix.Close(fd))
}
