// Package casetest is for tests: it runs those whose cases are archives of
// files, some of which are what is expected, and writes these again with
// -update.
package casetest

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write what is expected again")

// Case is an archive: a comment, and files.
type Case struct {
	Name    string // the archive's, without .txtar
	File    string
	Archive *txtar.Archive
	Texts   map[string]string // the files by name, with those that are expected
}

// Run runs a test for each archive that the pattern matches. What result makes
// of it, by the name of a file, must be in the archive: all of the expected
// names, no more and no less.
func Run(t *testing.T, pattern string, expected []string, result func(*testing.T, Case) map[string]string) {
	t.Helper()
	for _, c := range Cases(t, pattern) {
		t.Run(c.Name, func(t *testing.T) {
			got := result(t, c)
			for name := range got {
				if !slices.Contains(expected, name) {
					t.Errorf("%s is no result of these cases", name)
				}
			}
			if *update {
				c.write(t, expected, got)
				return
			}
			for _, name := range expected {
				want, expects := c.Texts[name]
				if is, found := got[name]; is != want || found != expects {
					t.Errorf("%s: got\n%s\nwant\n%s", name, is, want)
				}
			}
		})
	}
}

// RunOne is [Run] for cases that all expect one file.
func RunOne(t *testing.T, pattern, expected string, result func(*testing.T, Case) string) {
	t.Helper()
	Run(t, pattern, []string{expected}, func(t *testing.T, c Case) map[string]string {
		return map[string]string{expected: result(t, c)}
	})
}

// Cases reads the archives that the pattern matches. There must be some.
func Cases(t testing.TB, pattern string) (all []Case) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", pattern, err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c := Case{strings.TrimSuffix(filepath.Base(file), ".txtar"), file, archive, map[string]string{}}
		for _, f := range archive.Files {
			c.Texts[f.Name] = string(f.Data)
		}
		all = append(all, c)
	}
	return all
}

// Comment is what stands above the files.
func (c Case) Comment() string { return string(c.Archive.Comment) }

// First is the content of the first file.
func (c Case) First() []byte { return c.Archive.Files[0].Data }

// write replaces what is expected, and keeps it behind everything else.
func (c Case) write(t *testing.T, expected []string, got map[string]string) {
	t.Helper()
	c.Archive.Files = slices.DeleteFunc(c.Archive.Files, func(f txtar.File) bool { return slices.Contains(expected, f.Name) })
	for _, name := range expected {
		if text, found := got[name]; found {
			c.Archive.Files = append(c.Archive.Files, txtar.File{Name: name, Data: []byte(text)})
		}
	}
	if err := os.WriteFile(c.File, txtar.Format(c.Archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Shown checks that each block of text on a page of the documentation is part
// of what one of the cases expects.
func Shown(t *testing.T, page, pattern, expected string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var results strings.Builder
	for _, c := range Cases(t, pattern) {
		results.WriteString(c.Texts[expected])
	}
	blocks := strings.Split(string(text), "```text\n")[1:]
	if len(blocks) == 0 {
		t.Fatalf("%s shows nothing", page)
	}
	for _, b := range blocks {
		block, _, _ := strings.Cut(b, "```")
		if !strings.Contains(results.String(), block) {
			t.Errorf("%s: no result looks like this:\n%s", page, block)
		}
	}
}
