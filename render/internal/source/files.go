package source

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/talosgen/talosgen/render/internal/tree"
)

// Files reads the files of a repository. Paths are followed as the system
// does, which is cheap; links are followed by Stat alone, which refuses to
// leave the repository. Directories are listed with the links in them, so
// whoever meets one asks Stat.
type Files struct {
	root   string
	guard  *os.Root
	edited map[string][]byte // files that are to be read as if they held this; nil if there were none
}

var (
	_ fs.StatFS     = Files{}
	_ fs.ReadDirFS  = Files{}
	_ fs.ReadFileFS = Files{}
)

// Path returns where a file is in the file system.
func (f Files) Path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// Open opens a file.
func (f Files) Open(name string) (fs.File, error) { return os.Open(f.Path(name)) }

// ReadDir lists a directory, sorted.
func (f Files) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(f.Path(name))
	if len(f.edited) == 0 {
		return entries, err
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return f.removed(path.Join(name, e.Name())) }), err
}

// removed tells whether a file is to be taken for one that does not exist.
func (f Files) removed(name string) bool {
	text, ok := f.edited[name]
	return ok && text == nil
}

// ReadFile reads a file.
func (f Files) ReadFile(name string) ([]byte, error) {
	if f.removed(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if text, ok := f.edited[name]; ok {
		return text, nil
	}
	return os.ReadFile(f.Path(name))
}

// readAll reads many files at once, which is cheaper than one by one.
func (f Files) readAll(names []string) ([]tree.Source, error) {
	files, err := tree.ReadFiles(f.root, names)
	for i, name := range names {
		if text, ok := f.edited[name]; ok {
			files[i] = tree.Source{Data: text}
		}
	}
	return files, err
}

// Stat follows links within the repository.
func (f Files) Stat(name string) (fs.FileInfo, error) { return f.guard.Stat(filepath.FromSlash(name)) }

// Reason is the text of an error without the path, which the problem has.
func Reason(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// ReadInside reads a file, and refuses one that a link outside of the repository
// leads to.
func (f Files) ReadInside(name string) ([]byte, error) { return f.guard.ReadFile(name) }
