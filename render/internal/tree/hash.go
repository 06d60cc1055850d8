package tree

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/talosgen/talosgen/internal/diag"
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

// digest hashes the content of a file.
func (r *reader) digest(path string) (sum [sha256.Size]byte, err error) {
	data, err := r.read(path)
	if err != nil {
		return sum, err
	}
	return sha256.Sum256(data), nil
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

// isOddFile reports whether an error of read says that something is there
// which is not a regular file: a symbolic link, a directory, a socket.
func isOddFile(err error) bool {
	return errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENXIO)
}

// readProblem says that a file cannot be read, without repeating its path.
func readProblem(file string, err error) *diag.Problem {
	return diag.New(diag.Pos{File: file}, "cannot be read: %v", bare(err)).WithCause(err)
}

// bare strips the paths that package os puts into its errors: the place of a
// problem says where, relative to what the user knows.
func bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
