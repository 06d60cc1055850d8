package graph

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// colours are those of a card: its bar and caption, and its ground.
type colours struct{ strong, ground string }

var palette = map[Kind]colours{
	People:       {"#475569", "#f1f5f9"},
	Firewall:     {"#b91c1c", "#fef2f2"},
	FloatingIP:   {"#7e22ce", "#faf5ff"},
	SharedIP:     {"#7e22ce", "#faf5ff"},
	DNSRecord:    {"#475569", "#f1f5f9"},
	LoadBalancer: {"#7e22ce", "#faf5ff"},
	NATGateway:   {"#b45309", "#fffbeb"},
	ControlPlane: {"#1d4ed8", "#eff6ff"},
	Worker:       {"#15803d", "#f0fdf4"},
	Autoscaler:   {"#15803d", "#f0fdf4"},
	Addon:        {"#0f766e", "#f0fdfa"},
	Repository:   {"#475569", "#f1f5f9"},
	Leaving:      {"#b91c1c", "#fef2f2"},
}

// Colours that do not depend on the kind of a card. The picture has a ground of
// its own, so it can be read on a dark page as on a light one.
const (
	ink     = "#0f172a"
	soft    = "#475569"
	paper   = "#ffffff"
	frame   = "#cbd5e1"
	groupBg = "#f8fafc"
	arrowed = "#64748b"
)

// SVG draws a picture as an image of its own, which needs nothing else.
func (p *Picture) SVG() []byte { return draw(p, place(p)).out.Bytes() }

func draw(p *Picture, l *layout) *drawing {
	d := &drawing{}
	d.open(p, l)
	d.text(box{margin, margin, fullWidth - 2*margin, 26}, p.Title, style{size: titleSize, bold: true, colour: ink})
	d.text(box{margin, margin + 26, fullWidth - 2*margin, 18}, p.Subtitle, style{size: lineSize + 1, colour: soft})
	for _, g := range l.groups {
		d.group(g)
	}
	for _, a := range l.arrows {
		d.arrow(a)
	}
	d.printf("</svg>\n")
	return d
}

// drawing writes an SVG.
type drawing struct {
	out   bytes.Buffer
	texts []placedText // what was written where, for tests
}

type placedText struct {
	text string
	box  box // of the letters
	room box // that they have
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(&d.out, format, args...) }

func (d *drawing) open(p *Picture, l *layout) {
	w, h := number(fullWidth), number(l.height)
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" role="img" font-family="%s">`+"\n",
		w, h, w, h, `-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif`)
	d.printf("<title>%s: %s</title>\n", escape(p.Title), escape(p.Subtitle))
	d.printf(`<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0.5 L7.5 4 L0 7.5 Z" fill="%s"/></marker></defs>`+"\n", arrowed)
	d.rectangle(box{0.5, 0.5, fullWidth - 1, l.height - 1}, paper, frame, 10, "")
}

func (d *drawing) group(g placedGroup) {
	if g.Title != "" {
		d.rectangle(g.box, groupBg, frame, 8, "")
		room := box{g.box.x + padding, g.box.y + 7, labelWidth + padding, 20}
		d.text(room, g.Title, style{size: groupSize, bold: true, colour: ink})
		room.y += 18
		d.text(room, g.Subtitle, style{size: lineSize, colour: soft})
	}
	for _, r := range g.rows {
		d.row(r)
	}
}

func (d *drawing) row(r placedRow) {
	if r.framed {
		d.rectangle(r.box, paper, frame, 6, "")
	}
	room := box{r.box.x + padding, r.box.y + padding - 4, labelWidth, 18}
	d.text(room, r.Title, style{size: rowSize, bold: true, colour: ink})
	room.y += lineHeight
	d.text(room, r.Subtitle, style{size: lineSize, colour: soft})
	for _, c := range r.cards {
		d.card(c)
	}
}

func (d *drawing) card(c placedCard) {
	colour := palette[c.Kind]
	dashes := ""
	if c.Kind == Autoscaler {
		dashes = "5 4" // its servers come and go
	}
	if c.Become == "" {
		d.rectangle(c.box, colour.ground, colour.strong, 6, dashes)
	} else {
		edge := box{c.box.x - 3, c.box.y - 3, c.box.w + 6, c.box.h + 6}
		d.rectangle(edge, becomes[c.Become].colour, "none", 8, "")
		d.rectangle(c.box, colour.ground, colour.strong, 6, dashes)
	}
	d.rectangle(box{c.box.x, c.box.y + 6, 4, c.box.h - 12}, colour.strong, "none", 0, "")
	room := c.box.inner()
	room.h = captionSize + 3
	d.text(room, c.caption(), style{size: captionSize, colour: colour.strong})
	room.y, room.h = room.bottom(), lineHeight
	d.text(room, c.Title, style{size: cardSize, bold: true, colour: ink, keepEnd: !strings.Contains(c.Title, " ")})
	for _, line := range c.Lines {
		room.y += lineHeight
		d.line(room, line)
	}
}

// line writes both ends of a line. If there is not room for both, the end stays,
// and of a name at the beginning its own end, which tells nodes apart.
func (d *drawing) line(room box, line Line) {
	left := room
	if line.Right != "" {
		right := room
		right.w = min(width(line.Right, lineSize, false), room.w*2/3)
		if line.Left == "" {
			right.w = min(width(line.Right, lineSize, false), room.w)
		}
		right.x = room.right() - right.w
		d.text(right, line.Right, style{size: lineSize, colour: soft, right: true})
		left.w = room.w - right.w - apart
	}
	if line.Left != "" {
		d.text(left, line.Left, style{size: lineSize, colour: ink, keepEnd: !strings.Contains(line.Left, " ")})
	}
}

type style struct {
	size    float64
	bold    bool
	colour  string
	right   bool // the text ends at the end of its room
	keepEnd bool
}

// text writes a text into a room, shortened if it has to be; all of it is in the
// title, which browsers show.
func (d *drawing) text(room box, text string, s style) {
	short := fit(text, room.w, s.size, s.bold, s.keepEnd)
	if short == "" {
		return
	}
	at := box{room.x, room.y + (room.h-s.size)/2, width(short, s.size, s.bold), s.size}
	x, anchor := room.x, ""
	if s.right {
		at.x, x, anchor = room.right()-at.w, room.right(), ` text-anchor="end"`
	}
	d.texts = append(d.texts, placedText{short, at, room})
	weight, title := "", ""
	if s.bold {
		weight = ` font-weight="600"`
	}
	if short != text {
		title = "<title>" + escape(text) + "</title>"
	}
	baseline := at.y + s.size*0.82
	d.printf(`<text x="%s" y="%s" font-size="%s"%s fill="%s"%s>%s%s</text>`+"\n",
		number(x), number(baseline), number(s.size), weight, s.colour, anchor, title, escape(short))
}

func (d *drawing) rectangle(b box, fill, stroke string, radius float64, dashes string) {
	extra := ""
	if radius > 0 {
		extra = fmt.Sprintf(` rx="%s"`, number(radius))
	}
	if dashes != "" {
		extra += fmt.Sprintf(` stroke-dasharray="%s"`, dashes)
	}
	d.printf(`<rect x="%s" y="%s" width="%s" height="%s"%s fill="%s" stroke="%s"/>`+"\n",
		number(b.x), number(b.y), number(b.w), number(b.h), extra, fill, cmp.Or(stroke, "none"))
}

func (d *drawing) arrow(l line) {
	d.printf(`<path d="`)
	for i, p := range l.points {
		letter := "L"
		if i == 0 {
			letter = "M"
		}
		d.printf("%s%s %s", letter, number(p.x), number(p.y))
	}
	d.printf(`" fill="none" stroke="%s" stroke-width="1.5" marker-end="url(#head)"/>`+"\n", arrowed)
}

// number writes a length with two digits at most.
func number(f float64) string {
	return strconv.FormatFloat(float64(int64(f*100+0.5))/100, 'f', -1, 64)
}

func escape(text string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(text)); err != nil {
		return "" // a buffer takes everything
	}
	return b.String()
}
