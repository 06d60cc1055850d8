package importer

import (
	"errors"
	"io/fs"

	"github.com/talosgen/talosgen/render/internal/source"
)

// there is the environment as it is in the repository; nil if it is not there.
func (i *importing) there() (*source.Environment, error) {
	names, err := i.src.Files.ReadDir(i.path(""))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0 {
		return nil, nil
	}
	return i.src.ReadEnvironment(i.env)
}
