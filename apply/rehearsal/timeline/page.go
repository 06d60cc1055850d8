// Package timeline writes the report of a rehearsal as a page of HTML, with a picture of
// its steps on a line of time. The page is one file, without scripts, and loads nothing.
package timeline

import (
	_ "embed"
	"html/template"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/rehearsal"
)

//go:embed page.html
var layout string

var page = template.Must(template.New("page").Parse(layout))

// view is what the layout shows.
type view struct {
	Title    string
	Result   rehearsal.Result
	Picture  *picture // nil: there are no steps
	Sections []rehearsal.Section
}

// Write writes the page of a report, which holds no secrets. Equal reports give equal pages.
func Write(r *rehearsal.Report) []byte {
	v := view{Title: plan.Printable(r.Title()), Result: r.Result, Picture: drawn(r)}
	for _, s := range r.Sections() {
		for i, line := range s.Lines {
			s.Lines[i] = printable(line)
		}
		v.Sections = append(v.Sections, s)
	}
	var b strings.Builder
	if err := page.Execute(&b, v); err != nil {
		panic(err) // a builder takes everything, and the layout fits view
	}
	return []byte(b.String())
}

// printable is a text of several lines, each without what controls a terminal.
func printable(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = plan.Printable(line)
	}
	return strings.Join(lines, "\n")
}
