package importer

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/internal/diag"
)

// oddities are what people's files are like that a program's are not: each changes a file,
// or gives it another name.
var oddities = map[string]func(name, text string) (string, string){
	"lines of Windows":    func(n, text string) (string, string) { return n, strings.ReplaceAll(text, "\n", "\r\n") },
	"a byte order mark":   func(n, text string) (string, string) { return n, "\ufeff" + text },
	"no last line end":    func(n, text string) (string, string) { return n, strings.TrimRight(text, "\n") },
	"empty documents":     func(n, text string) (string, string) { return n, "---\n---\n" + text + "---\n# nothing\n---\n" },
	"a directive":         func(n, text string) (string, string) { return n, "%YAML 1.2\n---\n" + text },
	"an end":              func(n, text string) (string, string) { return n, text + "...\n" },
	"spaces at line ends": func(n, text string) (string, string) { return n, strings.ReplaceAll(text, "\n", "  \n") },
	"a secret in a comment": func(n, text string) (string, string) {
		return n, "# The password: canary-comment-12345\n" + text + "# token=canary-comment-67890\n"
	},
	"an anchor": func(n, text string) (string, string) {
		return n, strings.Replace(text, "machine:\n", "machine: &m\n", 1)
	},
	"a name in another script": func(n, text string) (string, string) {
		if strings.Contains(n, "patches/") || strings.HasPrefix(n, "all/") {
			return path.Join(path.Dir(n), "größe "+path.Base(n)), text
		}
		return n, text
	},
	"a second key":  func(n, text string) (string, string) { return n, text + "machine: {}\n" },
	"a tab":         func(n, text string) (string, string) { return n, text + "\tx: 1\n" },
	"an alias loop": func(n, text string) (string, string) { return n, text + "x: &x [*x]\n" },
	"zeros":         func(n, text string) (string, string) { return n, text + "\x00" },
	"Latin 1":       func(n, text string) (string, string) { return n, text + "# \xe9\n" },
}

// TestOddFolders: a folder of each kind, of which each file is odd in turn, or all are, is
// imported to the same values, or refused with the place of what is odd; a secret in a
// comment stays where it is. By day some of the files are odd, at night each.
func TestOddFolders(t *testing.T) {
	for from, made := range sources(t) {
		for what, odd := range oddities {
			t.Run(from+"/"+what, func(t *testing.T) {
				names := append(slices.Sorted(maps.Keys(made)), "")
				if mutants() < 100 {
					names = names[len(what)%len(names):][:1]
				}
				for _, only := range names {
					folder := maps.Clone(made)
					for name, file := range made {
						if only != "" && only != name {
							continue
						}
						to, text := odd(name, string(file.Data))
						delete(folder, name)
						folder[to] = &fstest.MapFile{Data: []byte(text)}
					}
					importsMutant(t, from, folder, what+" in "+only)
					saysWhere(t, from, folder, what+" in "+only)
				}
			})
		}
	}
}

// saysWhere imports a folder. What is written has no secret of it, and what is refused is
// named with a file that is there.
func saysWhere(t *testing.T, from string, folder fstest.MapFS, what string) {
	t.Helper()
	r := repository(t)
	report, err := Import(t.Context(), r, "home", Options{From: from, Dir: folder})
	if err == nil {
		if got := tree(t, r.Root(), report); strings.Contains(got, "canary") {
			t.Errorf("%s: a secret is in the clear:\n%s", what, got)
		}
		return
	}
	var problems diag.List
	problems.AddErr(err)
	for _, p := range problems {
		if strings.Contains(said(p), "canary") {
			t.Errorf("%s: a secret is told: %v", what, p)
		}
		if p.Pos.File == "" || folder[p.Pos.File] == nil {
			t.Errorf("%s: it is refused, and not said where: %v", what, p)
		}
	}
}
