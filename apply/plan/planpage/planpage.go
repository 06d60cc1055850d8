// Package planpage writes a plan as a page of HTML, for those who review a change: what
// operators read in a terminal, with what is destroyed open and what is made folded. The
// page is one file, without scripts, and loads nothing.
package planpage

import (
	_ "embed"
	"html/template"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/review"
)

//go:embed page.html
var layout string

var page = template.Must(template.New("page").Parse(layout))

// Write writes the page of a plan, which holds no secrets. Equal plans give equal pages.
func Write(title string, r review.Review) []byte {
	lines, counted := r.Lines()
	v := view{Title: title, Sections: sections(lines)}
	if counted {
		objects, more := r.Counts().Parts()
		v.Counts = append(objects, more...)
	}
	return v.page()
}

// page fills the layout.
func (v view) page() []byte {
	var b strings.Builder
	if err := page.Execute(&b, v); err != nil {
		panic(err) // a builder takes everything, and the layout fits view
	}
	return []byte(b.String())
}

// view is what the layout shows.
type view struct {
	Title    string
	Counts   []review.Count
	Sections []section
}

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

// classes are those of the signs.
var classes = map[string]string{"+": "add", "-": "destroy", "~": "change", "±": "replace", ">": "change", "!": "refused", "…": "refused"}

// sections put lines under those that are not indented, and what is said of an object
// under that.
func sections(lines []plan.Line) (all []section) {
	for _, l := range lines {
		switch last := len(all) - 1; {
		case l.Text == "" && l.Sign == "":
		case l.Indent == 0 && l.Sign == "":
			all = append(all, section{Title: l.Text})
		case last < 0:
			all = append(all, section{Parts: []part{begun(l)}})
		case l.Sign != "" || len(all[last].Parts) == 0:
			all[last].Parts = append(all[last].Parts, begun(l))
		default:
			p := &all[last].Parts[len(all[last].Parts)-1]
			p.lines = append(p.lines, l.String())
		}
	}
	return all
}

// begun is the part that begins with a line.
func begun(l plan.Line) part {
	if l.Sign == "" {
		return part{lines: []string{l.String()}}
	}
	return part{Class: classes[l.Sign], Sign: l.Sign, Name: l.Text, Open: l.Sign != "+"}
}
