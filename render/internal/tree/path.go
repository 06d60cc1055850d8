package tree

import (
	"path"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
)

// checkOutputs refuses output paths of which two would be the same file on
// some machine, or of which one would be a directory and a file at once.
// The files must be sorted by path.
func checkOutputs(files []File) error {
	var problems diag.List
	exact := make(map[string]bool, len(files)+1)
	folded := make(map[string]string, len(files)+1)
	note := func(p string) {
		low := strings.ToLower(p)
		if other, ok := folded[low]; ok && other != p {
			problems.Add(diag.On("output "+p, "differs from output %s in case only", other).
				WithHint("they would be one file on macOS; rename one"))
		}
		folded[low] = p
	}
	for _, f := range files {
		problems.Add(rendered.CheckPath(f.Path))
		if exact[f.Path] {
			problems.Add(diag.On("output "+f.Path, "is produced twice"))
		}
		exact[f.Path] = true
		note(f.Path)
	}
	for dir := range parents(files) {
		if exact[dir] {
			problems.Add(diag.On("output "+dir, "is both a file and a directory of other outputs"))
		}
		note(dir)
	}
	if other, ok := folded[rendered.LockName]; ok {
		problems.Add(diag.On("output "+other, "is the name of the lock"))
	}
	return problems.Err()
}

// parents returns every directory, at any depth, that holds one of the files.
func parents(files []File) map[string]bool {
	dirs := make(map[string]bool)
	last := ""
	for _, f := range files {
		dir := path.Dir(f.Path)
		if dir == last {
			continue // neighbours mostly share their directory
		}
		last = dir
		for ; dir != "." && dir != "/" && !dirs[dir]; dir = path.Dir(dir) {
			dirs[dir] = true
		}
	}
	return dirs
}
