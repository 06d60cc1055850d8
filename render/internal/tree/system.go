package tree

import (
	"io/fs"
	"os"
)

// system is every way in which a write changes the disk. Tests let each call
// fail in turn.
type system struct {
	mkdir     func(path string, perm fs.FileMode) error
	write     func(path string, data []byte, perm fs.FileMode) error // a new file, not synced
	link      func(from, to string) error
	symlink   func(target, path string) error
	rename    func(from, to string) error
	exchange  func(a, b string) error
	sync      func(path string) error    // the content of a file, or the names in a directory
	syncAll   func(paths []string) error // all on one file system
	removeAll func(path string) error    // no error if there is nothing
}

var realSystem = &system{
	mkdir:     mkdir,
	write:     writeNew,
	link:      link,
	symlink:   os.Symlink,
	rename:    os.Rename,
	exchange:  exchange,
	sync:      syncPath,
	syncAll:   syncAll,
	removeAll: removeAll,
}

func syncEach(paths []string) error {
	for _, path := range paths {
		if err := syncPath(path); err != nil {
			return err
		}
	}
	return nil
}
