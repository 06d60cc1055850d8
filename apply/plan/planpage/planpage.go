// Package planpage writes a plan as a page of HTML, for those who review a change: what
// operators read in a terminal, with what is destroyed open and what is made folded. The
// page is one file, without scripts, and loads nothing.
package planpage

import (
	_ "embed"
	"html/template"
	"regexp"
	"strings"
)

//go:embed page.html
var layout string

var page = template.Must(template.New("page").Parse(layout))

// Write writes the page of a plan from its text, which holds no secrets. Equal texts give
// equal pages.
func Write(title, text string) []byte {
	var b strings.Builder
	if err := page.Execute(&b, read(title, text)); err != nil {
		panic(err) // a builder takes everything, and the layout fits view
	}
	return []byte(b.String())
}

// view is what the layout shows.
type view struct {
	Title    string
	Counts   []count // the last line, in its parts
	Sections []section
}

// count is a part of the last line, such as "2 to add".
type count struct{ Class, Text string }

// section is what stands under a line that is not indented.
type section struct {
	Title string
	Parts []part
}

// part is an object with what becomes of it, or lines that are about none.
type part struct {
	Class string // what becomes of the object; none for lines
	Sign  string
	Name  string
	Open  bool
	lines []string
}

// Lines are what is said of it.
func (p part) Lines() string { return strings.Join(p.lines, "\n") }

// object is a line about an object: its sign, one space, and its name. Amounts of a cost
// stand further to the right.
var object = regexp.MustCompile(`^ {0,2}([-+~±>!…]) (\S.*)$`)

// classes are those of the signs.
var classes = map[string]string{"+": "add", "-": "destroy", "~": "change", "±": "replace", ">": "change", "!": "refused", "…": "refused"}

// read takes a text apart.
func read(title, text string) view {
	v := view{Title: title}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		m := object.FindStringSubmatch(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, "Plan: "):
			v.Counts = counts(strings.TrimPrefix(line, "Plan: "))
		case m != nil:
			v.part(part{Class: classes[m[1]], Sign: m[1], Name: m[2], Open: m[1] != "+"})
		case !strings.HasPrefix(line, " "):
			v.Sections = append(v.Sections, section{Title: line})
		default:
			v.line(line)
		}
	}
	return v
}

// part adds a part to the last section.
func (v *view) part(p part) {
	if len(v.Sections) == 0 {
		v.Sections = append(v.Sections, section{})
	}
	s := &v.Sections[len(v.Sections)-1]
	s.Parts = append(s.Parts, p)
}

// line adds a line to the last part.
func (v *view) line(line string) {
	if len(v.Sections) == 0 || len(v.Sections[len(v.Sections)-1].Parts) == 0 {
		v.part(part{})
	}
	s := &v.Sections[len(v.Sections)-1]
	p := &s.Parts[len(s.Parts)-1]
	p.lines = append(p.lines, line)
}

// counts takes the last line apart.
func counts(line string) (all []count) {
	objects, rest, _ := strings.Cut(line, "; ")
	for _, text := range strings.Split(objects, ", ") {
		class := "none"
		if !strings.HasPrefix(text, "0 ") {
			_, class, _ = strings.Cut(text, " to ")
			class, _, _ = strings.Cut(class, " ")
		}
		all = append(all, count{class, text})
	}
	for text := range strings.SplitSeq(rest, "; ") {
		switch {
		case text == "":
		case strings.Contains(text, "consent"), strings.Contains(text, "refused"), strings.Contains(text, "conflict"):
			all = append(all, count{"refused", text})
		default:
			all = append(all, count{"more", text})
		}
	}
	return all
}
