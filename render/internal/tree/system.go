package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// system is every way in which a write changes the disk. Tests let each call
// fail in turn.
type system struct {
	mkdir     func(path string, perm fs.FileMode) error
	write     func(path string, data []byte, perm fs.FileMode) error // a new file, not synced
	link      func(from, to string) error
	symlink   func(target, path string) error
	rename    func(from, to string) error
	exchange  func(a, b string) error
	sync      func(path string) error    // the content of a file, or the names in a directory
	syncAll   func(paths []string) error // all on one file system
	removeAll func(path string) error    // no error if there is nothing
}

var realSystem = &system{
	mkdir:     mkdir,
	write:     writeNew,
	link:      unix.Link,
	symlink:   os.Symlink,
	rename:    os.Rename,
	exchange:  exchange,
	sync:      syncPath,
	syncAll:   syncAll,
	removeAll: removeAll,
}

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

func syncEach(paths []string) error {
	for _, path := range paths {
		if err := syncPath(path); err != nil {
			return err
		}
	}
	return nil
}
