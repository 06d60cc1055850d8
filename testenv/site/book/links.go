package book

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// render follows the links of a page, and renders it. Links that lead nowhere are
// problems.
func (r *reader) render(p *Page) {
	var comments []ast.Node
	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			comments = append(comments, n)
			r.comment(p, string(n.Lines().Value(p.text)))
		case *ast.RawHTML:
			r.comment(p, string(n.Segments.Value(p.text)))
		case *ast.Link:
			n.Destination = r.follow(p, string(n.Destination))
		case *ast.Image:
			n.Destination = r.follow(p, string(n.Destination))
		}
		return ast.WalkContinue, nil
	})
	for _, c := range comments {
		c.Parent().RemoveChild(c.Parent(), c)
	}
	if err == nil {
		p.Body, err = p.html()
	}
	if err != nil {
		r.problems = append(r.problems, fmt.Errorf("%s: %w", p.File, err))
	}
}

// comment makes a problem of HTML that is more than a comment: it would not be shown.
func (r *reader) comment(p *Page, html string) {
	if html = strings.TrimSpace(html); !strings.HasPrefix(html, "<!--") {
		r.problems = append(r.problems, fmt.Errorf("%s: HTML is not shown: %s; write it as code", p.File, html))
	}
}

// follow is where a link of a page leads in the site.
func (r *reader) follow(p *Page, target string) []byte {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return []byte(target)
	}
	to, err := r.resolve(p, target)
	if err != nil {
		r.problems = append(r.problems, fmt.Errorf("%s: %w", p.File, err))
	}
	return []byte(to)
}

func (r *reader) resolve(p *Page, target string) (string, error) {
	file, anchor, _ := strings.Cut(target, "#")
	to := p.File
	if file != "" {
		to = path.Join(path.Dir(p.File), file)
	}
	if page := r.pageAt(to); page != nil {
		if anchor == "" {
			return Relative(p.Output, page.Output), nil
		}
		if !page.anchor(anchor) {
			return "", fmt.Errorf("%s has no heading #%s", page.File, anchor)
		}
		if page == p {
			return "#" + anchor, nil
		}
		return Relative(p.Output, page.Output) + "#" + anchor, nil
	}
	info, err := os.Stat(filepath.Join(r.repository, filepath.FromSlash(to)))
	if err != nil {
		return "", fmt.Errorf("%s leads nowhere", target)
	}
	if strings.HasPrefix(to, docs+"/") && !info.IsDir() {
		r.assets[to] = true
		return Relative(p.Output, strings.TrimPrefix(to, docs+"/")), nil
	}
	return r.source + to + fragment(anchor), nil
}

// pageAt is the page of a file, or of a folder.
func (r *reader) pageAt(file string) *Page {
	if p := r.pages[file]; p != nil {
		return p
	}
	return r.pages[path.Join(file, "README.md")]
}

func fragment(anchor string) string {
	if anchor == "" {
		return ""
	}
	return "#" + anchor
}
