package main

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// linkVariable turns links on or off wherever output goes, as it does for other
// programs that make them.
const linkVariable = "FORCE_HYPERLINK"

// linkTerminals are the variables by which terminals make themselves known that open
// links (OSC 8), with the value that each must have; an empty one: any.
var linkTerminals = []struct{ variable, value string }{
	{"TERM_PROGRAM", "iTerm.app"}, {"TERM_PROGRAM", "WezTerm"}, {"TERM_PROGRAM", "ghostty"}, {"TERM_PROGRAM", "vscode"},
	{"TERM", "xterm-kitty"}, {"TERM", "alacritty"}, {"TERM", "foot"}, {"WT_SESSION", ""}, {"KONSOLE_VERSION", ""},
}

// firstLinkingVTE is the first version of the library of GNOME's and other terminals
// that does not crash at a link.
const firstLinkingVTE = 5002

// opensLinks reports whether a stream shows links: if it is a terminal that is known
// to, or if the variable asks for them.
func opensLinks(vars environ, terminal bool) bool {
	if force, set := vars(linkVariable); set && force != "" {
		return force != "0" && force != "false"
	}
	if !terminal || vars.get("TERM") == "dumb" {
		return false
	}
	if vte, err := strconv.Atoi(vars.get("VTE_VERSION")); err == nil && vte >= firstLinkingVTE {
		return true
	}
	for _, known := range linkTerminals {
		if value := vars.get(known.variable); value != "" && (known.value == "" || known.value == value) {
			return true
		}
	}
	return false
}

// links makes links of the files of a repository that a text names. The zero value
// makes none.
type links struct {
	root     string // of the repository; empty before one is open
	host     string // which file: URLs name, so that a terminal knows those of another machine
	editor   bool   // the terminal is VS Code's, which opens a file at its line
	isFile   func(path string) bool
	resolved map[string]string // absolute names of what is a file; empty: it is none
}

func systemLinks(vars environ) *links {
	host, err := os.Hostname()
	if err != nil {
		host = "" // this machine
	}
	return &links{host: host, editor: vars.get("TERM_PROGRAM") == "vscode", isFile: isFile, resolved: map[string]string{}}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// within sets the repository whose files texts name from now on.
func (l *links) within(root string) {
	if absolute, err := filepath.Abs(root); l != nil && err == nil {
		l.root = absolute
		clear(l.resolved)
	}
}

// mayBeFile matches what can be the name of a file with its line and column, and colours,
// whose letters belong to no name.
var mayBeFile = regexp.MustCompile(`\x1b\[[0-9;]*m|(/?(?:[\w.@+~-]+/)*[\w.@+~-]*\w)((?::\d+){0,2})`)

// linked is a text in which each name of a file of the repository is a link to it.
func (l *links) linked(text string) string {
	if l == nil || l.root == "" {
		return text
	}
	return mayBeFile.ReplaceAllStringFunc(text, func(match string) string {
		parts := mayBeFile.FindStringSubmatch(match)
		if !strings.ContainsAny(parts[1], "./") {
			return match
		}
		path := l.file(parts[1])
		if path == "" {
			return match
		}
		return "\x1b]8;;" + l.address(path, parts[2]) + "\x1b\\" + match + "\x1b]8;;\x1b\\"
	})
}

// file is the absolute name of a file of the repository; empty if it is none.
func (l *links) file(name string) string {
	path, known := l.resolved[name]
	if !known {
		path = l.absolute(filepath.FromSlash(name))
		if path != "" && !l.isFile(path) {
			path = ""
		}
		l.resolved[name] = path
	}
	return path
}

// absolute is what a name is in the repository; empty if it leads out of it.
func (l *links) absolute(name string) string {
	if filepath.IsAbs(name) {
		within, err := filepath.Rel(l.root, name)
		if err != nil {
			return ""
		}
		name = within
	}
	if !filepath.IsLocal(name) {
		return ""
	}
	return filepath.Join(l.root, name)
}

// address is the URL of a file, with its place (:line:column) where it can say one.
func (l *links) address(path, place string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive of Windows
	}
	if l.editor {
		return (&url.URL{Scheme: "vscode", Host: "file", Path: path + place}).String()
	}
	return (&url.URL{Scheme: "file", Host: l.host, Path: path}).String()
}

// linkWriter writes what passes through with links. Callers write whole lines.
type linkWriter struct {
	w     io.Writer
	links *links
}

// Write writes p with links, and reports the length of p.
func (w linkWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, w.links.linked(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
