// Package pages writes a book as a site: files that any web server serves, or that a
// browser opens from a disk, and that load nothing from elsewhere.
package pages

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/talosgen/talosgen/testenv/site/book"
)

//go:embed files
var files embed.FS

// scripts are what pages load besides themselves.
var scripts = []string{"style.css", "theme.js", "site.js", "search.js"}

// Site is a book of one version.
type Site struct {
	Book       *book.Book
	Version    string // which is the name of its folder, too
	Repository string // where the book's assets are read
	Source     string // URL of the repository's files, which ends with a slash
}

// Write writes the site into the folder of its version below out, in place of what is
// there.
func (s Site) Write(out string) error {
	dir := filepath.Join(out, s.Version)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	layout, err := template.ParseFS(files, "files/page.html")
	if err != nil {
		return err
	}
	for _, p := range s.Book.Pages {
		var b strings.Builder
		if err := layout.Execute(&b, view{Site: s, Page: p}); err != nil {
			return fmt.Errorf("%s: %w", p.File, err)
		}
		if err := write(dir, p.Output, []byte(b.String())); err != nil {
			return err
		}
	}
	if err := s.writeFiles(dir); err != nil {
		return err
	}
	return writeVersions(out)
}

// writeFiles writes what pages load.
func (s Site) writeFiles(dir string) error {
	for _, name := range scripts {
		data, err := files.ReadFile("files/" + name)
		if err != nil {
			return err
		}
		if err := write(dir, name, data); err != nil {
			return err
		}
	}
	for _, asset := range s.Book.Assets {
		data, err := os.ReadFile(filepath.Join(s.Repository, filepath.FromSlash(asset)))
		if err != nil {
			return err
		}
		if err := write(dir, strings.TrimPrefix(asset, "docs/"), data); err != nil {
			return err
		}
	}
	index, err := s.index()
	if err != nil {
		return err
	}
	return write(dir, "index.js", index)
}

// index is what is searched: for each heading the title of its page, its own text, where
// it is, and the text below. It is a script, as a page on a disk may load nothing else.
func (s Site) index() ([]byte, error) {
	var sections [][4]string
	for _, p := range s.Book.Pages {
		for _, section := range p.Sections {
			target := p.Output
			if section.Anchor != "" {
				target += "#" + section.Anchor
			}
			sections = append(sections, [4]string{p.Title, section.Heading, target, section.Text})
		}
	}
	data, err := json.Marshal(sections)
	return []byte("window.searchIndex = " + string(data) + ";\n"), err
}

func write(dir, name string, data []byte) error {
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// view is what a page is rendered from.
type view struct {
	Site
	*book.Page
}

// To is the way from the page to a file of the site.
func (v view) To(file string) string { return book.Relative(v.Output, file) }

// Root is the way to the folder of the version.
func (v view) Root() string { return book.Relative(v.Output, "") }

// Contents are the headings that the page lists: those of the upper two levels.
func (v view) Contents() (list []book.Heading) {
	for _, h := range v.Headings {
		if h.Level <= 3 {
			list = append(list, h)
		}
	}
	return list
}

// Home reports whether the page is the first one.
func (v view) Home() bool { return v.Output == "index.html" }

// Written is where the page's source can be read.
func (v view) Written() string { return v.Source + v.File }

// Describe is the beginning of the page's text, for search engines.
func (v view) Describe() string {
	const most = 160
	words := v.Sections[0].Text
	if len([]rune(words)) > most {
		words = string([]rune(words)[:most-1]) + "…"
	}
	return words
}

// Short is the text of a heading as the contents show it: of an option of cluster.yaml,
// what comes after the section that the page is about.
func (v view) Short(h book.Heading) string {
	if rest, ok := strings.CutPrefix(h.Text, v.Title+"."); ok && path.Dir(v.Output) != "." {
		return rest
	}
	return h.Text
}
