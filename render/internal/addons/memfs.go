package addons

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// memFS is files in memory, by their paths with slashes: what was read and
// digested, and nothing else.
type memFS map[string][]byte

var (
	_ fs.ReadDirFS  = memFS{}
	_ fs.ReadFileFS = memFS{}
	_ fs.StatFS     = memFS{}
)

// Open opens a file or a directory.
func (m memFS) Open(name string) (fs.File, error) {
	info, err := m.Stat(name)
	if err != nil {
		return nil, err
	}
	return &memFile{info: info.(memInfo), Reader: bytes.NewReader(m[name])}, nil
}

// ReadFile reads a file.
func (m memFS) ReadFile(name string) ([]byte, error) {
	if data, ok := m[name]; ok {
		return bytes.Clone(data), nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Stat describes a file or a directory.
func (m memFS) Stat(name string) (fs.FileInfo, error) {
	if data, ok := m[name]; ok {
		return memInfo{name: path.Base(name), size: int64(len(data))}, nil
	}
	if len(m.names(name)) == 0 {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return memInfo{name: path.Base(name), dir: true}, nil
}

// ReadDir lists a directory, sorted.
func (m memFS) ReadDir(name string) ([]fs.DirEntry, error) {
	names := m.names(name)
	if len(names) == 0 {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	entries := make([]fs.DirEntry, len(names))
	for i, n := range names {
		info, err := m.Stat(path.Join(name, n))
		if err != nil {
			return nil, err
		}
		entries[i] = fs.FileInfoToDirEntry(info)
	}
	return entries, nil
}

// names are those in a directory, sorted.
func (m memFS) names(dir string) []string {
	prefix := dir + "/"
	if dir == "." {
		prefix = ""
	}
	var names []string
	for file := range m {
		if rest, ok := strings.CutPrefix(file, prefix); ok {
			first, _, _ := strings.Cut(rest, "/")
			names = append(names, first)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// memFile is an open file.
type memFile struct {
	info memInfo
	*bytes.Reader
}

var _ io.ReaderAt = &memFile{}

// Stat describes the file.
func (f *memFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close does nothing.
func (f *memFile) Close() error { return nil }

// memInfo describes a file or a directory.
type memInfo struct {
	name string
	size int64
	dir  bool
}

// Name is its name in its directory.
func (i memInfo) Name() string { return i.name }

// Size is its length in bytes.
func (i memInfo) Size() int64 { return i.size }

// IsDir tells whether it is a directory.
func (i memInfo) IsDir() bool { return i.dir }

// ModTime is none.
func (i memInfo) ModTime() time.Time { return time.Time{} }

// Sys is nothing.
func (i memInfo) Sys() any { return nil }

// Mode is that of a readable file or directory.
func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}
