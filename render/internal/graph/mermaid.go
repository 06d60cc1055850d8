package graph

import (
	"fmt"
	"strings"
)

// Mermaid writes a picture as a Mermaid flowchart, which GitHub, GitLab and many
// editors draw.
func (p *Picture) Mermaid() []byte {
	m := &mermaid{ids: map[string]string{}}
	m.printf(0, "flowchart TB")
	m.printf(1, `title["%s<br/>%s"]:::title`, bold(p.Title), quote(p.Subtitle))
	for i, g := range p.Groups {
		depth := 1
		if g.Title != "" {
			m.printf(1, `subgraph g%d["%s"]`, i+1, joined(bold(g.Title), quote(g.Subtitle)))
			depth = 2
		}
		for _, r := range g.Rows {
			m.row(depth, r)
		}
		if g.Title != "" {
			m.printf(1, "end")
		}
	}
	for _, a := range p.Arrows {
		if from, to := m.ids[a.From], m.ids[a.To]; from != "" && to != "" {
			m.printf(1, "%s --> %s", from, to)
		}
	}
	m.printf(1, "classDef title fill:none,stroke:none,color:#64748b")
	for _, k := range m.kinds {
		c := palette[k]
		m.printf(1, "classDef %s fill:%s,stroke:%s,color:%s", class(k), c.ground, c.strong, ink)
	}
	return []byte(m.out.String())
}

type mermaid struct {
	out   strings.Builder
	ids   map[string]string // in the text, by what arrows know
	kinds []Kind            // that were drawn, in the order of their first card
}

func (m *mermaid) printf(depth int, format string, args ...any) {
	m.out.WriteString(strings.Repeat("    ", depth))
	fmt.Fprintf(&m.out, format+"\n", args...)
}

func (m *mermaid) row(depth int, r Row) {
	id := fmt.Sprintf("n%d", len(m.ids)+1)
	m.ids[r.ID] = id
	title := joined(bold(r.Title), quote(r.Subtitle))
	if len(r.Cards) == 0 {
		m.printf(depth, `%s["%s"]`, id, title)
		return
	}
	m.printf(depth, `subgraph %s["%s"]`, id, title)
	m.printf(depth+1, "direction LR")
	for _, c := range r.Cards {
		m.card(depth+1, c)
	}
	m.printf(depth, "end")
}

func (m *mermaid) card(depth int, c Card) {
	id := fmt.Sprintf("n%d", len(m.ids)+1)
	m.ids[c.ID] = id
	parts := []string{"<i>" + quote(string(c.Kind)) + "</i>", bold(c.Title)}
	for _, l := range c.Lines {
		parts = append(parts, quote(strings.TrimSpace(l.Left+" "+l.Right)))
	}
	m.printf(depth, `%s["%s"]:::%s`, id, joined(parts...), class(c.Kind))
	for _, k := range m.kinds {
		if k == c.Kind {
			return
		}
	}
	m.kinds = append(m.kinds, c.Kind)
}

func bold(text string) string {
	if text == "" {
		return ""
	}
	return "<b>" + quote(text) + "</b>"
}

// joined puts parts below each other, without empty ones.
func joined(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "<br/>")
}

// class is the name of a kind as a class: letters only.
func class(k Kind) string { return "k" + strings.ReplaceAll(string(k), " ", "") }

// quote writes what means something to Mermaid, or to HTML, by its name.
func quote(text string) string {
	return strings.NewReplacer(
		"#", "#35;", ";", "#59;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", "\n", " ",
	).Replace(text)
}
