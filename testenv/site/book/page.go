package book

import (
	"bytes"
	"errors"
	"html/template"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Page is one page.
type Page struct {
	File     string // where it is written, from the root of the repository
	Output   string // where it is in the site
	Title    string
	Body     template.HTML
	Headings []Heading
	Sections []Section
	Next     *Page
	Previous *Page

	named string // the anchor of the title
	text  []byte
	tree  ast.Node
}

// Heading is a heading of a page, below its title.
type Heading struct {
	Level  int
	Anchor string
	Text   string
}

// Section is what a search finds: a heading, and the text below it. That of the title
// has no anchor.
type Section struct {
	Anchor, Heading, Text string
}

// markdown reads what GitHub reads, with anchors as GitHub names them.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(codeBlocks{}, 1), util.Prioritized(headings{}, 1))),
)

// parse reads a page, but follows none of its links.
func parse(file string, data []byte) (*Page, error) {
	p := &Page{File: file, Output: outputOf(file), text: data}
	p.tree = markdown.Parser().Parse(text.NewReader(data), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	for n := p.tree.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		switch {
		case ok && h.Level == 1 && p.Title == "":
			p.Title = p.plain(h)
			p.named = anchorOf(p.Title)
			p.Sections = append(p.Sections, Section{})
		case ok:
			id, _ := h.AttributeString("id")
			anchor, words := string(id.([]byte)), p.plain(h)
			p.Headings = append(p.Headings, Heading{h.Level, anchor, words})
			p.Sections = append(p.Sections, Section{Anchor: anchor, Heading: words})
		case len(p.Sections) > 0:
			last := &p.Sections[len(p.Sections)-1]
			last.Text = strings.TrimSpace(last.Text + " " + p.plain(n))
		}
	}
	if p.Title == "" {
		return nil, errors.New("it has no title: the first heading is one of the first level")
	}
	return p, nil
}

// anchor reports whether a page has a heading of that name.
func (p *Page) anchor(name string) bool {
	return name == p.named || slices.ContainsFunc(p.Headings, func(h Heading) bool { return h.Anchor == name })
}

// plain is the text of a node without markup, on one line.
func (p *Page) plain(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.HTMLBlock:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			b.Write(unescaped(n.Segment.Value(p.text), n.IsRaw()))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(p.text))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.Write(n.Lines().Value(p.text))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// unescaped is text as it is read, if it is not code.
func unescaped(text []byte, raw bool) []byte {
	if raw {
		return text
	}
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(text)))
}

// html renders a page, whose links have been followed.
func (p *Page) html() (template.HTML, error) {
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.text, p.tree); err != nil {
		return "", err
	}
	// Code is escaped, so these are tables and nothing else.
	wide := strings.NewReplacer("<table>", `<div class="scroll"><table>`, "</table>", "</table></div>")
	return template.HTML(wide.Replace(b.String())), nil
}

// anchors names headings as GitHub does.
type anchors struct{}

// Generate is the name for the text of a heading.
func (anchors) Generate(value []byte, _ ast.NodeKind) []byte { return []byte(anchorOf(string(value))) }

// Put is told names that stand in a text; there are none.
func (anchors) Put([]byte) {}

func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}
