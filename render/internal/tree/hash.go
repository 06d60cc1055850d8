package tree

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"

	"github.com/talosgen/talosgen/internal/diag"
)

// digest hashes the content of a file.
func (r *reader) digest(path string) (sum [sha256.Size]byte, err error) {
	data, err := r.read(path)
	if err != nil {
		return sum, err
	}
	return sha256.Sum256(data), nil
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
