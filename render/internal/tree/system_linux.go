package tree

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two paths in one step.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// manyPaths is where one sync of the whole file system, which waits for what
// other programs wrote too, becomes quicker than a sync of each path.
const manyPaths = 32

// syncAll makes files and directories last.
func syncAll(paths []string) error {
	if len(paths) < manyPaths {
		return syncEach(paths)
	}
	fd, err := openRetry(unix.AT_FDCWD, paths[0], unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	err = errors.Join(retry(func() error { return unix.Syncfs(fd) }), unix.Close(fd))
	if errors.Is(err, unix.ENOSYS) {
		return syncEach(paths)
	}
	return err
}
