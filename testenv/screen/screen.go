// Package screen is a terminal for tests: what a program sees of one, by a real
// pseudo-terminal of Linux, and what a person would see on it.
package screen

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Screen is what a terminal shows of what was written to it. It knows what programs of
// ours ask of terminals; anything else is in Unknown.
type Screen struct {
	// Whether lines are broken anew when the width changes, as in most terminals of
	// today. Else they are cut, as in xterm.
	Reflows bool
	// Unknown are the escape sequences that the screen does not know.
	Unknown []string
	// Hidden tells that the cursor is not shown.
	Hidden bool
	// Bells is how often the bell rang.
	Bells int

	columns, rows int
	lines         []row // those that were scrolled away, then those on the screen
	top           int   // the first line of the screen in lines
	x, y          int   // of the cursor; y in lines
	wraps         bool  // the last column is full: the next character begins a line
	style         string
	pending       []byte // of a sequence or character that is not complete
}

// row is a line of the screen.
type row struct {
	cells   []cell
	wrapped bool // its text goes on in the next line
}

// cell is a place for a character.
type cell struct {
	r     rune
	style string // the last sequence that changed colours; empty: plain
}

// NewScreen returns an empty screen.
func NewScreen(columns, rows int) *Screen {
	s := &Screen{Reflows: true, columns: columns, rows: rows}
	s.fill()
	return s
}

// fill adds lines until the cursor's line exists, and scrolls until it is on the screen.
func (s *Screen) fill() {
	for len(s.lines) < max(s.top+s.rows, s.y+1) {
		s.lines = append(s.lines, row{})
	}
	s.top = max(s.top, s.y-s.rows+1)
	for len(s.lines) < s.top+s.rows {
		s.lines = append(s.lines, row{})
	}
}

// Write shows what a program writes. It never fails.
func (s *Screen) Write(p []byte) (int, error) {
	text := append(s.pending, p...)
	for len(text) > 0 {
		n := s.take(text)
		if n == 0 {
			break
		}
		text = text[n:]
	}
	s.pending = append([]byte(nil), text...)
	return len(p), nil
}

// take shows the first character or sequence of a text, and returns how long it is; 0 if
// it is not complete.
func (s *Screen) take(text []byte) int {
	if text[0] == 0x1b {
		return s.escape(text)
	}
	if !utf8.FullRune(text) {
		return 0
	}
	r, n := utf8.DecodeRune(text)
	switch r {
	case '\r':
		s.x, s.wraps = 0, false
	case '\n':
		s.y, s.wraps = s.y+1, false
		s.fill()
	case '\b':
		s.x, s.wraps = max(s.x-1, 0), false
	case '\a':
		s.Bells++
	default:
		if r < ' ' {
			s.Unknown = append(s.Unknown, strconv.QuoteRune(r))
			break
		}
		s.put(r)
	}
	return n
}

// put shows a character at the cursor.
func (s *Screen) put(r rune) {
	if s.wraps {
		s.lines[s.y].wrapped = true
		s.x, s.y, s.wraps = 0, s.y+1, false
		s.fill()
	}
	l := &s.lines[s.y]
	for len(l.cells) <= s.x {
		l.cells = append(l.cells, cell{r: ' '})
	}
	l.cells[s.x] = cell{r, s.style}
	if s.x == s.columns-1 {
		s.wraps = true
		return
	}
	s.x++
}

// escape does what a sequence asks for.
func (s *Screen) escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	if text[1] != '[' {
		s.Unknown = append(s.Unknown, strconv.Quote(string(text[:2])))
		return 2
	}
	end := 2
	for end < len(text) && (text[end] < '@' || text[end] > '~') {
		end++
	}
	if end == len(text) {
		return 0
	}
	s.control(string(text[2:end]), text[end])
	return end + 1
}

// control does what a control sequence asks for.
func (s *Screen) control(arguments string, what byte) {
	n, err := strconv.Atoi(arguments)
	if err != nil {
		n = 1
	}
	switch {
	case what == 'm':
		s.style = ""
		if arguments != "" && arguments != "0" {
			s.style = arguments
		}
	case what == 'A':
		s.y, s.wraps = max(s.y-n, s.top), false
	case what == 'J' && (arguments == "" || arguments == "0"):
		s.clearFrom(s.y, s.x)
	case what == 'K' && (arguments == "" || arguments == "0"):
		s.clearLine(s.y, s.x)
	case arguments == "?25":
		s.Hidden = what == 'l'
	default:
		s.Unknown = append(s.Unknown, strconv.Quote("\x1b["+arguments+string(what)))
	}
}

// clearFrom clears the screen from a place on.
func (s *Screen) clearFrom(y, x int) {
	s.clearLine(y, x)
	for i := y + 1; i < len(s.lines); i++ {
		s.lines[i] = row{}
	}
}

func (s *Screen) clearLine(y, x int) {
	l := &s.lines[y]
	l.cells, l.wrapped = l.cells[:min(x, len(l.cells))], false
}

// Text returns what is on the screen, without the empty lines at its end.
func (s *Screen) Text() string { return s.text(s.top) }

// All returns what is on the screen, and before it what was scrolled away.
func (s *Screen) All() string { return s.text(0) }

func (s *Screen) text(from int) string {
	var b strings.Builder
	for _, l := range s.lines[from:] {
		b.WriteString(l.text() + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (l row) text() string {
	var b strings.Builder
	for _, c := range l.cells {
		b.WriteRune(c.r)
	}
	return b.String()
}

// Line is a line of text, as it was written.
type Line struct{ Rows []string }

// Lines returns all lines that were written, those that were scrolled away too, each
// with the rows that it takes, and how many rows were scrolled away.
func (s *Screen) Lines() (all []Line, scrolled int) {
	wrapped := false
	for _, l := range s.lines[:s.last()+1] {
		if wrapped {
			last := &all[len(all)-1]
			last.Rows = append(last.Rows, l.text())
		} else {
			all = append(all, Line{[]string{l.text()}})
		}
		wrapped = l.wrapped
	}
	return all, s.top
}

// Cursor returns the column and the line of the cursor, from 0.
func (s *Screen) Cursor() (column, line int) { return s.x, s.y - s.top }

// Styled returns the text that is shown in a colour or weight, such as "31", in the order
// of its places.
func (s *Screen) Styled(style string) (texts []string) {
	for _, l := range s.lines[s.top:] {
		in := false
		for _, c := range l.cells {
			if c.style == style && !in {
				texts = append(texts, "")
			}
			if in = c.style == style; in {
				texts[len(texts)-1] += string(c.r)
			}
		}
	}
	return texts
}
