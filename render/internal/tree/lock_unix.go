//go:build unix

package tree

import (
	"errors"

	"golang.org/x/sys/unix"
)

// held is the lock of a directory: a flock, which the kernel releases when the process
// ends.
type held struct{ fd int }

// hold takes the lock of a directory. The error is [errHeld] if somebody else has it.
func hold(dir string) (held, error) {
	fd, err := openRetry(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return held{}, err
	}
	err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return held{fd}, nil
	}
	_ = unix.Close(fd)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errHeld
	}
	return held{}, err
}

// isCurrent reports whether the directory that is locked is still the one at a path.
func (h held) isCurrent(path string) bool {
	var opened, named unix.Stat_t
	return unix.Fstat(h.fd, &opened) == nil && unix.Lstat(path, &named) == nil &&
		opened.Dev == named.Dev && opened.Ino == named.Ino
}

func (h held) release() { _ = unix.Close(h.fd) }
