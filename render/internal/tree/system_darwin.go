package tree

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two paths in one step.
func exchange(a, b string) error {
	return unix.RenamexNp(a, b, unix.RENAME_SWAP)
}

// syncAll hands every path to the disk, and then has the disk empty its cache
// once: that is the expensive part on macOS.
func syncAll(paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	if err := syncEach(paths); err != nil {
		return err
	}
	fd, err := openRetry(unix.AT_FDCWD, paths[0], unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_FULLFSYNC, 0)
	if errors.Is(err, unix.ENOTSUP) {
		err = nil // a network file system: the syncs above are all there is
	}
	return errors.Join(err, unix.Close(fd))
}
