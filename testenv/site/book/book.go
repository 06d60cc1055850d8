// Package book reads the documentation of a repository as a book: its pages in the
// order of the map in docs/README.md, as HTML, with every link followed.
package book

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Book is the documentation of a repository.
type Book struct {
	Pages  []*Page  // in the order in which they are read
	Parts  []Part   // what the navigation shows
	Assets []string // other files that pages show, from the root of the repository
}

// Part is a heading of the map.
type Part struct {
	Title  string
	Groups []Group
}

// Group is a list of the map, under what introduces it.
type Group struct {
	Title   string
	Entries []Entry
}

// Entry is a page of a list, and those that belong to it.
type Entry struct {
	Page     *Page
	Children []*Page
}

// has reports whether a page is an entry's, or belongs to it.
func (e Entry) has(p *Page) bool { return e.Page == p || slices.Contains(e.Children, p) }

// Open reports whether the navigation shows what belongs to an entry on a page.
func (e Entry) Open(p *Page) bool { return len(e.Children) > 0 && e.has(p) }

const (
	docs      = "docs"
	start     = docs + "/README.md"
	decisions = docs + "/decisions"
)

// project are pages beside the documentation that belong to it.
var project = []string{"CHANGELOG.md", "SECURITY.md"}

// Read reads the documentation of the repository in a folder. Source is where its
// other files can be read, as a URL that ends with a slash.
func Read(repository, source string) (*Book, error) {
	r := reader{repository: repository, source: source, pages: map[string]*Page{}, assets: map[string]bool{}}
	if err := r.read(); err != nil {
		return nil, err
	}
	b := &Book{}
	if err := r.arrange(b); err != nil {
		return nil, err
	}
	for _, p := range b.Pages {
		r.render(p)
	}
	for asset := range r.assets {
		b.Assets = append(b.Assets, asset)
	}
	slices.Sort(b.Assets)
	return b, errors.Join(r.problems...)
}

// reader reads a book.
type reader struct {
	repository string
	source     string
	pages      map[string]*Page // by their files, from the root of the repository
	assets     map[string]bool
	problems   []error
}

func (r *reader) read() error {
	files, err := r.files()
	if err != nil {
		return err
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(r.repository, filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		if r.pages[file], err = parse(file, data); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// files are the Markdown files of the book, from the root of the repository.
func (r *reader) files() ([]string, error) {
	var files []string
	for _, file := range project {
		if _, err := os.Stat(filepath.Join(r.repository, file)); err == nil {
			files = append(files, file)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	err := filepath.WalkDir(filepath.Join(r.repository, docs), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".md") {
			return err
		}
		rel, err := filepath.Rel(r.repository, name)
		files = append(files, filepath.ToSlash(rel))
		return err
	})
	return files, err
}

// outputOf is where a page is in the site.
func outputOf(file string) string {
	file = strings.TrimPrefix(file, docs+"/")
	if path.Base(file) == "README.md" {
		return path.Join(path.Dir(file), "index.html")
	}
	return strings.ToLower(strings.TrimSuffix(file, ".md")) + ".html"
}

// Relative is the way from one file of the site to another one.
func Relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}
