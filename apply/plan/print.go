package plan

import (
	"fmt"
	"strings"
)

// Printer prints plans for people. Texts of others, such as names and labels,
// cannot move the cursor of a terminal.
type Printer struct{ lines []Line }

// Line is a line of what is printed.
type Line struct {
	// How many spaces it is moved to the right.
	Indent int
	// What becomes of the object that it is about, as a sign; empty: it begins no object.
	Sign string
	Text string
}

// String is the line as it is printed.
func (l Line) String() string {
	text := l.Text
	if l.Sign != "" {
		text = l.Sign + " " + text
	}
	if text == "" {
		return ""
	}
	return strings.Repeat(" ", l.Indent) + text
}

// Line prints one line.
func (w *Printer) Line(indent int, format string, args ...any) {
	w.Object(indent, "", format, args...)
}

// Object prints the line that what is said of an object begins with: its sign, and its
// name.
func (w *Printer) Object(indent int, sign, format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	w.lines = append(w.lines, Line{indent, sign, Brief(Printable(text))})
}

// Blank prints an empty line.
func (w *Printer) Blank() { w.lines = append(w.lines, Line{}) }

// Lines are what was printed.
func (w *Printer) Lines() []Line { return w.lines }

// String is what was printed.
func (w *Printer) String() string {
	var b strings.Builder
	for _, l := range w.lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// Notes prints notes under a title; nothing, if there are none.
func (w *Printer) Notes(title string, notes []Note) {
	for i, n := range notes {
		if i == 0 {
			w.Line(0, "%s:", title)
		}
		if n.Key == "" {
			w.Line(2, "%s", n.Text)
		} else {
			w.Line(2, "%s: %s", n.Key, n.Text)
		}
		if n.Hint != "" {
			w.Line(6, "%s", n.Hint)
		}
	}
}

// Paragraph prints notes under a title, after an empty line, and those that have the
// same words as one; nothing, if there are none.
func (w *Printer) Paragraph(title string, notes []Note) {
	if len(notes) > 0 {
		w.Blank()
		w.Notes(title, Merged(notes))
	}
}

// Consents is [Printer.Missing] after an empty line.
func (w *Printer) Consents(ways []string) {
	if len(ways) > 0 {
		w.Blank()
		w.Missing(ways)
	}
}

// Missing prints how to give each consent that is missing; nothing, if none is.
func (w *Printer) Missing(ways []string) {
	for i, way := range ways {
		if i == 0 {
			w.Line(0, "consent is missing:")
		}
		w.Line(2, "%s", way)
	}
}

// Count is a part of a summary: 3 to create.
type Count struct {
	N    int
	Text string
}

// Summary joins what there is to do, and how much is refused, in one line; none is
// the line if there is nothing.
func Summary(none string, refused int, counts ...Count) string {
	var parts []string
	for _, c := range append(counts, Count{refused, "refused"}) {
		if c.N > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Text))
		}
	}
	if len(parts) == 0 {
		return none
	}
	return strings.Join(parts, ", ")
}
