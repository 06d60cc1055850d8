package tree

import (
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/talosgen/talosgen/internal/diag"
)

// maxPath keeps a path short enough to be a key on one line of YAML (1024
// characters, with every one of them escaped).
const maxPath = 500

// checkPath refuses a path that is not plainly below its root, or that cannot
// be written down: it has to mean the same file on every machine.
func checkPath(p string) *diag.Problem {
	switch {
	case len(p) > maxPath:
		return diag.On("path "+safe(p[:50])+"…", "is longer than %d bytes", maxPath)
	case isSimplePath(p):
	case p == "." || !fs.ValidPath(p):
		return diag.On("path "+safe(p), "is not a relative path without . and ..")
	case strings.Contains(p, `\`):
		return diag.On("path "+p, "has a backslash").
			WithHint("use forward slashes between directories, and no backslash in names")
	case strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }):
		return diag.On("path "+safe(p), "has a character that cannot be printed").
			WithHint("rename the file")
	}
	return nil
}

// isSimplePath decides most paths in one pass: letters, digits, -, _, slashes,
// and dots that do not follow a dot or a slash.
func isSimplePath(p string) bool {
	before := byte('/')
	for i := range len(p) {
		c := p[i]
		switch {
		case isLetter(c), '0' <= c && c <= '9', c == '-', c == '_':
		case (c == '.' || c == '/') && before != '.' && before != '/':
		default:
			return false
		}
		before = c
	}
	return before != '/'
}

// safe makes a name printable.
func safe(p string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return utf8.RuneError
		}
		return r
	}, p)
}

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
		problems.Add(checkPath(f.Path))
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
	if other, ok := folded[LockName]; ok {
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
