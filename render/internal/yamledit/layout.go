package yamledit

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// layout is the text of a file, and where its lines begin.
type layout struct {
	text  []byte
	lines []int // the offset of each line, and the length of the text
}

func lineStarts(text []byte) []int {
	starts := []int{0}
	for i, c := range text {
		if c == '\n' && i+1 < len(text) {
			starts = append(starts, i+1)
		}
	}
	return append(starts, len(text))
}

// offset is the place of a node in the text. Columns count characters.
func (f layout) offset(n *yaml.Node) int {
	at := f.lines[min(n.Line, len(f.lines))-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(f.text[at:])
		at += size
	}
	return at
}

// line is the number, from 0, of the line that an offset is on.
func (f layout) line(offset int) int {
	low, high := 0, len(f.lines)-1
	for low+1 < high {
		if middle := (low + high) / 2; f.lines[middle] <= offset {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// lineText is a line, from 0, without its break.
func (f layout) lineText(line int) string {
	return strings.TrimRight(string(f.text[f.lines[line]:f.lines[line+1]]), "\r\n")
}

// count is how many lines the file has.
func (f layout) count() int { return len(f.lines) - 1 }

// newline is the line break that the file uses.
func (f layout) newline() string {
	if bytes.Contains(f.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// skip moves over spaces, line breaks, comments and other characters.
func (f layout) skip(at int, others string) int {
	for at < len(f.text) {
		switch c := f.text[at]; {
		case c == '#' && (at == 0 || isSpace(f.text[at-1]) || f.text[at-1] == ','):
			for at < len(f.text) && f.text[at] != '\n' {
				at++
			}
		case isSpace(c) || strings.IndexByte(others, c) >= 0:
			at++
		default:
			return at
		}
	}
	return at
}

// commentsInside skips comments that are indented deeper than a column.
func (f layout) commentsInside(line, column int) int {
	end := line
	for ; line < f.count(); line++ {
		text := f.lineText(line)
		switch {
		case isComment(text) && indentation(text) > column:
			end = line + 1
		case !isBlank(text):
			return end
		}
	}
	return end
}

// insertLines writes lines in front of a line.
func (f layout) insertLines(line, column int, lines []string) []splice {
	newline := f.newline()
	text := strings.Join(indent(lines, strings.Repeat(" ", column)), newline) + newline
	at := f.lines[line]
	if line == f.count() && at > 0 && f.text[at-1] != '\n' {
		text = newline + strings.TrimSuffix(text, newline)
	}
	return []splice{{at, at, text}}
}

// comma is the offset behind the comma that follows on the same line.
func (f layout) comma(at int) (int, bool) {
	for i := at; i < len(f.text); i++ {
		switch f.text[i] {
		case ',':
			return i + 1, true
		case ' ', '\t':
		default:
			return at, false
		}
	}
	return at, false
}

// gap moves over what is between two items, unless a comment is there.
func (f layout) gap(from, to int) int {
	if to < from || bytes.ContainsRune(f.text[from:to], '#') {
		return from
	}
	return to
}

// cutLines takes lines out, and the comments directly above them.
func (f layout) cutLines(from, to int) []splice {
	for from > 0 && isComment(f.lineText(from-1)) {
		from--
	}
	return []splice{{f.lines[from], f.lines[to], ""}}
}
