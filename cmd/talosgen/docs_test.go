package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// repository is the root of this repository, from the directory of the package.
var repository = filepath.Join("..", "..")

// markdown returns the pages of the repository, with slashes, from its root.
func markdown(t *testing.T) []string {
	t.Helper()
	var pages []string
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		skip := []string{".git", "testdata", "dist", "bin"}
		if d.IsDir() && slices.Contains(skip, d.Name()) {
			return fs.SkipDir
		}
		if d.Type().IsRegular() && strings.HasSuffix(path, ".md") {
			rel, err := filepath.Rel(repository, path)
			pages = append(pages, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	return pages
}

// readPage reads a page, and parses its blocks.
func readPage(t *testing.T, name string) *page {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(repository, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePage(string(data))
	if err != nil {
		t.Fatalf("%s:%v", name, err)
	}
	return p
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestDocsLinks finds links that lead nowhere.
func TestDocsLinks(t *testing.T) {
	for _, name := range markdown(t) {
		for i, line := range readPage(t, name).lines {
			for _, m := range link.FindAllStringSubmatch(line.prose(), -1) {
				if err := checkLink(t, name, m[1]); err != nil {
					t.Errorf("%s:%d: %v", name, i+1, err)
				}
			}
		}
	}
}

func checkLink(t *testing.T, from, target string) error {
	t.Helper()
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return nil
	}
	file, anchor, _ := strings.Cut(target, "#")
	to := from
	if file != "" {
		to = filepath.ToSlash(filepath.Join(filepath.Dir(from), file))
	}
	if _, err := os.Stat(filepath.Join(repository, to)); err != nil {
		return fmt.Errorf("%s leads nowhere", target)
	}
	if anchor != "" && !slices.Contains(readPage(t, to).anchors(), anchor) {
		return fmt.Errorf("%s has no heading #%s", to, anchor)
	}
	return nil
}

// TestDocsMap finds pages of the documentation that its map does not lead to.
func TestDocsMap(t *testing.T) {
	const root, decisions = "docs/", "docs/decisions/" // which have a list of their own
	listed := map[string]bool{}
	for _, line := range readPage(t, root+"README.md").lines {
		for _, m := range link.FindAllStringSubmatch(line.prose(), -1) {
			listed[root+m[1]] = true
		}
	}
	for _, name := range markdown(t) {
		if strings.HasPrefix(name, root) && !strings.HasPrefix(name, decisions) && name != root+"README.md" && !listed[name] {
			t.Errorf("docs/README.md does not lead to %s", name)
		}
	}
}

// TestStandardFiles finds what people look for in every project. As long as there is no
// LICENSE, README says whose decision that is.
func TestStandardFiles(t *testing.T) {
	for _, name := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} {
		if info, err := os.Stat(filepath.Join(repository, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(repository, "LICENSE")); err == nil {
		return
	}
	const said = "Which one it will be is the decision of the project's owner"
	if !strings.Contains(readPage(t, "README.md").text(), said) {
		t.Errorf("there is no LICENSE, and README.md does not say: %s", said)
	}
}

// anchors returns the names that GitHub gives the headings of a page.
func (p *page) anchors() []string {
	var names []string
	for _, line := range p.lines {
		heading := strings.TrimLeft(line.text, "#")
		if line.code || heading == line.text || !strings.HasPrefix(heading, " ") {
			continue
		}
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading)))
	}
	return names
}

// TestArchitectureNamesEveryPackage keeps the table of packages as it is.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(repository, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, pattern := range []string{"*", "*/*", "*/*/*", "*/*/*/*", "*/*/*/*/*"} {
		sources, err := filepath.Glob(filepath.Join(repository, pattern, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range sources {
			dir, err := filepath.Rel(repository, filepath.Dir(file))
			if err != nil {
				t.Fatal(err)
			}
			found[filepath.ToSlash(dir)] = true
		}
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\|").FindAllStringSubmatch(string(data), -1) {
		named[m[1]] = true
		if !found[m[1]] {
			t.Errorf("there is no package %s any more", m[1])
		}
	}
	for dir := range found {
		if !named[dir] && !strings.HasPrefix(dir, "testenv/") {
			t.Errorf("the table of packages has no line for %s", dir)
		}
	}
}

// TestDocsExamples runs the examples of the pages, each page in a copy of this
// repository of its own.
func TestDocsExamples(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the examples use commands as Linux has them")
	}
	t.Parallel() // no page, however long, keeps other tests waiting
	for _, name := range markdown(t) {
		p := readPage(t, name)
		if !p.hasExamples() {
			continue
		}
		t.Run(strings.TrimSuffix(name, ".md"), func(t *testing.T) {
			t.Parallel()
			p.run(t)
			if !*update {
				return
			}
			file := filepath.Join(repository, filepath.FromSlash(name))
			if err := os.WriteFile(file, []byte(p.text()), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}
