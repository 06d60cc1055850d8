// Package timeline writes the report of a rehearsal, or of a run, as a page of HTML, with
// a picture of its steps on a line of time. The page is one file, without scripts, and
// loads nothing.
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
	Caption  string
	Sections []rehearsal.Section
}

// Write writes the page of a rehearsal's report, which holds no secrets. Equal reports
// give equal pages.
func Write(r *rehearsal.Report) []byte {
	return view{
		Title: r.Title(), Result: r.Result, Picture: drawn(r), Sections: r.Sections(),
		Caption: "Durations are estimated. Amber: a step that takes pods from workloads. Red: a step that fails, and times at which a part of the control plane is away.",
	}.written()
}

// Run is a run that has ended.
type Run struct {
	Title  string
	Result rehearsal.Result
	// What it did, and when.
	Steps *rehearsal.Report
	// Its report for people.
	Report string
}

// WriteRun writes the page of a run, which holds no secrets.
func WriteRun(r Run) []byte {
	return view{
		Title: r.Title, Result: r.Result, Picture: drawn(r.Steps),
		Caption:  "Durations are measured. Red: a step that failed.",
		Sections: []rehearsal.Section{{Title: "report", Lines: strings.Split(strings.TrimRight(r.Report, "\n"), "\n")}},
	}.written()
}

// written is the page, with nothing in its texts that controls a terminal.
func (v view) written() []byte {
	v.Title = plan.Printable(v.Title)
	for _, s := range v.Sections {
		for i, line := range s.Lines {
			s.Lines[i] = printable(line)
		}
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
