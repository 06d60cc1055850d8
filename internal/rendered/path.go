package rendered

import (
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/talosgen/talosgen/internal/diag"
)

// maxPath keeps a path short enough to be a key on one line of YAML (1024
// characters, with every one of them escaped).
const maxPath = 500

// CheckPath refuses a path that is not plainly below its root, or that cannot
// be written down: it has to mean the same file on every machine.
func CheckPath(p string) *diag.Problem {
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
