package book

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// codeBlocks renders fenced code: what is typed apart from what is printed, and keys
// apart from values.
type codeBlocks struct{}

// RegisterFuncs names what it renders.
func (c codeBlocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, c.render)
}

func (codeBlocks) render(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.FencedCodeBlock)
	language := string(n.Language(source))
	fmt.Fprintf(w, `<div class="code"><pre data-language="%s" tabindex="0"><code>`, html.EscapeString(language))
	for line := range strings.Lines(string(n.Lines().Value(source))) {
		line, end := strings.CutSuffix(line, "\n")
		_, _ = w.WriteString(codeLine(language, line))
		if end {
			_ = w.WriteByte('\n')
		}
	}
	_, err := w.WriteString("</code></pre></div>\n")
	return ast.WalkSkipChildren, err
}

var yamlLine = regexp.MustCompile(`^(\s*(?:- )?)([^\s#:'"][^:'"]*)(:(?:\s.*)?)$`)

// codeLine is a line of code as HTML.
func codeLine(language, line string) string {
	escaped := html.EscapeString(line)
	switch language {
	case "console":
		if strings.HasPrefix(line, "$ ") {
			return span("typed", escaped)
		}
	case "diff":
		for sign, class := range map[string]string{"+": "added", "-": "removed", "@": "where"} {
			if strings.HasPrefix(line, sign) {
				return span(class, escaped)
			}
		}
	case "yaml":
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			return span("remark", escaped)
		}
		if m := yamlLine.FindStringSubmatch(line); m != nil {
			return m[1] + span("key", html.EscapeString(m[2])) + html.EscapeString(m[3])
		}
	case "sh":
		if strings.HasPrefix(line, "#") {
			return span("remark", escaped)
		}
	}
	return escaped
}

func span(class, escaped string) string { return `<span class="` + class + `">` + escaped + `</span>` }

// headings renders headings with a link to themselves.
type headings struct{}

// RegisterFuncs names what it renders.
func (h headings) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, h.render)
}

func (headings) render(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Heading)
	id, _ := n.AttributeString("id")
	anchor, _ := id.([]byte)
	if entering {
		fmt.Fprintf(w, `<h%d id="%s">`, n.Level, anchor)
		return ast.WalkContinue, nil
	}
	if n.Level > 1 {
		fmt.Fprintf(w, ` <a class="anchor" href="#%s" aria-label="Link to this heading">#</a>`, anchor)
	}
	_, err := fmt.Fprintf(w, "</h%d>\n", n.Level)
	return ast.WalkContinue, err
}
