package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mermaid writes a picture as a Mermaid flowchart, which GitHub, GitLab and many
// editors draw. What it leaves to them is where things are.
func (p *Picture) Mermaid() []byte {
	m := &mermaid{ids: map[string]string{}}
	m.head(p)
	for i, g := range p.Groups {
		m.group(fmt.Sprintf("g%d", i+1), g)
	}
	for _, a := range p.Arrows {
		if from, to := m.ids[a.From], m.ids[a.To]; from != "" && to != "" {
			m.printf(1, "%s --> %s", from, to)
		}
	}
	for i := 1; i < len(p.Groups); i++ {
		m.below(p, p.Groups[i-1], p.Groups[i])
	}
	m.colours()
	return []byte(m.out.String())
}

// below keeps a group under the one before it: what no arrow leads to would be at the
// top. The lines are not drawn.
func (m *mermaid) below(p *Picture, above, group Group) {
	last := ""
	for _, c := range above.boxes() {
		if last == "" || slices.ContainsFunc(p.Arrows, func(a Arrow) bool { return a.To == c[len(c)-1] }) {
			last = c[len(c)-1]
		}
	}
	for _, c := range group.boxes() {
		led := slices.ContainsFunc(p.Arrows, func(a Arrow) bool { return slices.Contains(c, a.To) })
		if last != "" && !led {
			m.printf(1, "%s ~~~ %s", m.ids[last], m.ids[c[len(c)-1]])
		}
	}
}

// boxes are the ids of what is drawn in a group, each behind that of its row.
func (g Group) boxes() (all [][]string) {
	for _, r := range g.Rows {
		if len(r.Cards) == 0 {
			all = append(all, []string{r.ID})
		}
		for _, c := range r.Cards {
			all = append(all, []string{r.ID, c.ID})
		}
	}
	return all
}

type mermaid struct {
	out    strings.Builder
	ids    map[string]string // in the text, by what arrows know
	frames []string          // ids of rows
	outer  []string          // ids of groups
	marked []string          // styles of cards that do not stay as they are
	kinds  []Kind            // that were drawn, in the order of their first card
}

func (m *mermaid) printf(depth int, format string, args ...any) {
	m.out.WriteString(strings.Repeat("    ", depth))
	fmt.Fprintf(&m.out, format+"\n", args...)
}

// head writes the title, and room for texts: a name is not broken, and a frame's title
// is not covered by what is in it.
func (m *mermaid) head(p *Picture) {
	title := strings.TrimSuffix(p.Title+": "+p.Subtitle, ": ")
	m.printf(0, "---\ntitle: %s\nconfig:\n  flowchart:\n    wrappingWidth: 480\n    subGraphTitleMargin:\n      top: 4\n      bottom: 8\n---", strconv.Quote(title))
	m.printf(0, "flowchart TB")
}

// group writes a group, in a frame if it has a title.
func (m *mermaid) group(id string, g Group) {
	depth := 1
	if g.Title != "" {
		m.printf(1, `subgraph %s["%s"]`, id, heading(g.Title, g.Subtitle))
		m.printf(2, "direction TB")
		m.outer = append(m.outer, id)
		depth = 2
	}
	for _, r := range g.Rows {
		m.row(depth, r)
	}
	if g.Title != "" {
		m.printf(1, "end")
	}
}

// row writes a row. Cards that no arrow connects are side by side
// where the direction is downwards.
func (m *mermaid) row(depth int, r Row) {
	id := fmt.Sprintf("n%d", len(m.ids)+1)
	m.ids[r.ID] = id
	m.frames = append(m.frames, id)
	if len(r.Cards) == 0 {
		m.printf(depth, `%s["%s"]`, id, heading(r.Title, r.Subtitle))
		return
	}
	m.printf(depth, `subgraph %s["%s"]`, id, heading(r.Title, r.Subtitle))
	m.printf(depth+1, "direction TB")
	for _, c := range r.Cards {
		m.card(depth+1, c)
	}
	m.printf(depth, "end")
}

func (m *mermaid) card(depth int, c Card) {
	id := fmt.Sprintf("n%d", len(m.ids)+1)
	m.ids[c.ID] = id
	parts := []string{"<i>" + quote(c.caption()) + "</i>", bold(c.Title)}
	for _, l := range c.Lines {
		parts = append(parts, quote(strings.TrimSpace(l.Left+" "+l.Right)))
	}
	m.printf(depth, `%s["%s"]:::%s`, id, joined(parts...), class(c.Kind))
	if c.Become != "" {
		m.marked = append(m.marked, fmt.Sprintf("style %s stroke:%s,stroke-width:4px", id, becomes[c.Become].colour))
	}
	if !slices.Contains(m.kinds, c.Kind) {
		m.kinds = append(m.kinds, c.Kind)
	}
}

// colours gives frames and cards those of the SVG, which can be read on a dark page as on
// a light one.
func (m *mermaid) colours() {
	for _, style := range m.marked {
		m.printf(1, "%s", style)
	}
	m.printf(1, "linkStyle default stroke:%s", arrowed)
	for _, f := range []struct {
		name, ground string
		ids          []string
	}{{"group", groupBg, m.outer}, {"row", paper, m.frames}} {
		if len(f.ids) > 0 {
			m.printf(1, "classDef %s fill:%s,stroke:%s,color:%s", f.name, f.ground, frame, ink)
			m.printf(1, "class %s %s", strings.Join(f.ids, ","), f.name)
		}
	}
	for _, k := range m.kinds {
		c := palette[k]
		dashes := ""
		if k == Autoscaler {
			dashes = ",stroke-dasharray:5 4"
		}
		m.printf(1, "classDef %s fill:%s,stroke:%s,color:%s%s", class(k), c.ground, c.strong, ink, dashes)
	}
}

// heading is the title of a frame, on one line: there is no room for more, and a title
// is broken where it may be.
func heading(title, subtitle string) string {
	text := bold(title)
	if subtitle != "" {
		text += " · " + quote(subtitle)
	}
	return strings.NewReplacer(" ", "\u00a0", "-", "\u2011").Replace(text)
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
