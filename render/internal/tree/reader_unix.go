//go:build unix

package tree

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// reader reads many files below a directory for as little CPU time as
// possible: one buffer, paths looked up from the directory, and none of the
// bookkeeping of os.File.
type reader struct {
	dir   int // file descriptor of the root
	flags int
	buf   []byte
}

// newReader opens a directory. With followLinks, a path may be a symbolic link
// (links in its directories are always followed).
func newReader(dir string, followLinks bool) (*reader, error) {
	fd, err := openRetry(unix.AT_FDCWD, dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	// A FIFO would block without O_NONBLOCK; for regular files it has no effect.
	flags := unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK
	if !followLinks {
		flags |= unix.O_NOFOLLOW
	}
	return &reader{dir: fd, flags: flags, buf: make([]byte, 64<<10)}, nil
}

func (r *reader) close() { _ = unix.Close(r.dir) }

// read returns the content of a file, valid until the next call.
func (r *reader) read(path string) ([]byte, error) {
	fd, err := openRetry(r.dir, path, r.flags)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	used := 0
	for {
		n, err := unix.Read(fd, r.buf[used:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		case n == 0:
			return r.buf[:used], nil
		}
		used += n
		if used == len(r.buf) {
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		}
	}
}

func openRetry(dir int, path string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, path, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// isMissing reports whether an error of read says that there is no file.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
}

// isDirectory reports whether an error of read says that a directory is there.
func isDirectory(err error) bool { return errors.Is(err, unix.EISDIR) }

// isOddFile reports whether an error of read says that something is there
// which is not a regular file: a symbolic link, a directory, a socket.
func isOddFile(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENXIO)
}
