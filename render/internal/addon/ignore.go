package addon

import (
	"bytes"
	"errors"
	"io/fs"
	"path"

	"helm.sh/helm/v4/pkg/ignore"

	"github.com/talosgen/talosgen/internal/diag"
)

// ignoreRules reads the .helmignore of a chart that is a directory: what it
// names is left out. A chart without one leaves out nothing.
func ignoreRules(files fs.FS, dir string) (*ignore.Rules, error) {
	name := path.Join(dir, ignore.HelmIgnore)
	data, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return ignore.Empty(), nil
	}
	if err != nil {
		return nil, unreadable(name, err)
	}
	rules, err := ignore.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, diag.New(diag.Pos{File: name}, "cannot be read as Helm does: %v", err).WithCause(err)
	}
	return rules, nil
}

// ignored tells whether rules leave out a file or directory of a chart.
func ignored(rules *ignore.Rules, inChart string, entry fs.DirEntry) (bool, error) {
	info, err := entry.Info()
	if err != nil {
		return false, err
	}
	return rules.Ignore(inChart, info), nil
}
