package book

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// arrange brings the pages in the order of the map. A page that it does not lead to
// is an error.
func (r *reader) arrange(b *Book) error {
	first := r.pages[start]
	if first == nil {
		return errors.New(start + " is missing: it has the order of the pages")
	}
	m := mapping{reader: r, seen: map[*Page]bool{first: true}, parts: []Part{{Title: "Begin"}}}
	for n := first.tree.FirstChild(); n != nil; n = n.NextSibling() {
		m.block(first, n)
	}
	m.adopt()
	m.project()
	b.Parts = slices.DeleteFunc(m.parts, func(p Part) bool { return len(p.Groups) == 0 })
	b.Pages = inOrder(first, b.Parts)
	var missing []string
	for file, p := range r.pages {
		if !m.seen[p] {
			missing = append(missing, file)
		}
	}
	if slices.Sort(missing); len(missing) > 0 {
		return fmt.Errorf("%s does not lead to %s", start, strings.Join(missing, ", "))
	}
	return nil
}

// inOrder are the pages as they are read, each with those around it.
func inOrder(first *Page, parts []Part) []*Page {
	pages := []*Page{first}
	for _, part := range parts {
		for _, g := range part.Groups {
			for _, e := range g.Entries {
				pages = append(append(pages, e.Page), e.Children...)
			}
		}
	}
	for i, p := range pages[1:] {
		p.Previous, pages[i].Next = pages[i], p
	}
	return pages
}

// mapping reads the map.
type mapping struct {
	*reader
	seen  map[*Page]bool
	parts []Part
}

// block reads a heading, which begins a part; a paragraph, which introduces a list or
// leads to pages itself; or a list.
func (m *mapping) block(first *Page, n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		if n.Level > 1 {
			m.parts = append(m.parts, Part{Title: strings.TrimSuffix(first.plain(n), " …")})
		}
	case *ast.Paragraph:
		if words := first.plain(n); strings.HasSuffix(words, ":") {
			m.group(strings.TrimSuffix(words, ":"))
			return
		}
		for _, p := range m.linked(n) {
			m.entry(Entry{Page: p})
		}
	case *ast.List:
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			if pages := m.linked(item); len(pages) > 0 {
				m.entry(Entry{Page: pages[0], Children: pages[1:]})
			}
		}
	}
}

func (m *mapping) group(title string) {
	part := &m.parts[len(m.parts)-1]
	part.Groups = append(part.Groups, Group{Title: title})
}

func (m *mapping) entry(e Entry) {
	part := &m.parts[len(m.parts)-1]
	if len(part.Groups) == 0 {
		m.group("")
	}
	g := &part.Groups[len(part.Groups)-1]
	g.Entries = append(g.Entries, e)
}

// linked are the pages that a node leads to for the first time.
func (m *mapping) linked(n ast.Node) (pages []*Page) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, ok := n.(*ast.Link)
		if !entering || !ok {
			return ast.WalkContinue, nil
		}
		file, _, _ := strings.Cut(string(link.Destination), "#")
		p := m.pages[path.Join(docs, file)]
		if file != "" && p != nil && strings.HasPrefix(p.File, docs+"/") && !m.seen[p] {
			m.seen[p] = true
			pages = append(pages, p)
		}
		return ast.WalkContinue, nil
	})
	return pages
}

// adopt gives the page of all decisions each of them, by their numbers.
func (m *mapping) adopt() {
	var all []*Page
	for file, p := range m.pages {
		if path.Dir(file) == decisions && !m.seen[p] {
			m.seen[p] = true
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *Page) int { return strings.Compare(a.File, b.File) })
	for _, part := range m.parts {
		for _, g := range part.Groups {
			for i, e := range g.Entries {
				if e.Page.File == decisions+"/README.md" {
					g.Entries[i].Children = all
				}
			}
		}
	}
}

// project adds the pages beside the documentation.
func (m *mapping) project() {
	m.parts = append(m.parts, Part{Title: "Project"})
	for _, file := range project {
		if p := m.pages[file]; p != nil {
			m.seen[p] = true
			m.entry(Entry{Page: p})
		}
	}
}
