package tree

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange swaps two paths in one step.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// syncTree syncs the file system once, which is far less work than a sync of
// every file.
func syncTree(root string, written []string) error {
	fd, err := openRetry(unix.AT_FDCWD, root, unix.O_RDONLY|unix.O_CLOEXEC)
	if err != nil {
		return err
	}
	err = errors.Join(retry(func() error { return unix.Syncfs(fd) }), unix.Close(fd))
	if errors.Is(err, unix.ENOSYS) {
		return syncEach(root, written)
	}
	return err
}
