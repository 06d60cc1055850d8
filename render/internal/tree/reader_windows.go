package tree

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// reader reads many files below a directory, with one buffer.
type reader struct {
	dir         string
	followLinks bool
	buf         []byte
}

// What is there in the place of a regular file.
var (
	errDirectory = errors.New("is a directory")
	errOdd       = errors.New("is not a regular file")
)

// newReader opens a directory. With followLinks, a path may be a symbolic link
// (links in its directories are always followed).
func newReader(dir string, followLinks bool) (*reader, error) {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: dir, Err: windows.ERROR_DIRECTORY}
	}
	if err != nil {
		return nil, err
	}
	return &reader{dir: dir, followLinks: followLinks, buf: make([]byte, 64<<10)}, nil
}

func (r *reader) close() {}

// read returns the content of a file, valid until the next call.
func (r *reader) read(path string) ([]byte, error) {
	path = filepath.Join(r.dir, path)
	stat := os.Lstat
	if r.followLinks {
		stat = os.Stat
	}
	info, err := stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errDirectory}
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errOdd}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for used := 0; ; {
		n, err := f.Read(r.buf[used:])
		used += n
		if errors.Is(err, io.EOF) {
			return r.buf[:used], nil
		}
		if err != nil {
			return nil, err
		}
		if used == len(r.buf) {
			r.buf = append(r.buf, make([]byte, len(r.buf))...)
		}
	}
}

// isMissing reports whether an error of read says that there is no file.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, windows.ERROR_DIRECTORY)
}

// isDirectory reports whether an error of read says that a directory is there.
func isDirectory(err error) bool { return errors.Is(err, errDirectory) }

// isOddFile reports whether an error of read says that something is there
// which is not a regular file: a symbolic link, a directory.
func isOddFile(err error) bool { return isDirectory(err) || errors.Is(err, errOdd) }
