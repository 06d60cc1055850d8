package yamltext

import (
	"bytes"
	"fmt"
	"slices"
)

// Scan calls visit for each leaf of one document, in order. The leaf and its
// path are valid during the call only; [Leaves] keeps them. The text holds no
// document separator (see [Split]).
func Scan(text []byte, visit func(*Leaf) error) error {
	s := scanner{text: text, visit: visit}
	for s.next() {
		if err := s.line(); err != nil {
			return err
		}
	}
	return s.settle(-1, false)
}

// Leaves returns all leaves of one document.
func Leaves(text []byte) ([]Leaf, error) {
	leaves := make([]Leaf, 0, bytes.Count(text, []byte{'\n'}))
	err := Scan(text, func(l *Leaf) error {
		kept := *l
		kept.Path = slices.Clone(l.Path)
		leaves = append(leaves, kept)
		return nil
	})
	return leaves, err
}

// Split cuts a file into its documents, at the lines that are "---".
func Split(file []byte) [][]byte {
	var docs [][]byte
	for len(file) > 0 {
		doc, rest := cutDocument(file)
		if len(bytes.TrimSpace(doc)) > 0 {
			docs = append(docs, doc)
		}
		file = rest
	}
	return docs
}

func cutDocument(file []byte) (doc, rest []byte) {
	for at := 0; at < len(file); {
		end := lineEnd(file, at)
		if string(bytes.TrimRight(file[at:end], " \t\r\n")) == "---" {
			return file[:at], file[end:]
		}
		at = end
	}
	return file, nil
}

// frame is an open collection: its column, and where in it we are.
type frame struct {
	column   int
	sequence bool
}

type scanner struct {
	text   []byte
	visit  func(*Leaf) error
	frames []frame
	path   Path // one element for each frame

	start, end int // the current line, with its newline
	number     int // its number, from 1
	column     int // of its first character
	after      int // where the next line starts

	started bool // past the first line
	pending bool // the last entry had no value on its line
	leaf    Leaf // the leaf that is being read
}

// next moves to the next line that says something.
func (s *scanner) next() bool {
	for s.after < len(s.text) {
		s.start, s.end = s.after, lineEnd(s.text, s.after)
		s.after = s.end
		s.number++
		s.column = 0
		for s.start+s.column < s.end && s.text[s.start+s.column] == ' ' {
			s.column++
		}
		if c := s.char(s.start + s.column); c != '\n' && c != '#' && c != '\r' {
			return true
		}
	}
	return false
}

func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// char returns the byte at an offset of the current line; its end is a newline.
func (s *scanner) char(at int) byte {
	if at >= s.end {
		return '\n'
	}
	return s.text[at]
}

func (s *scanner) unsupported(what string) error {
	return fmt.Errorf("line %d: %s: %w", s.number, what, ErrUnsupported)
}

// isDash reports whether a sequence entry starts at an offset.
func (s *scanner) isDash(at int) bool {
	if s.char(at) != '-' {
		return false
	}
	c := s.char(at + 1)
	return c == ' ' || c == '\n'
}

// line reads one line: dashes, then a key, then a value, each optional.
func (s *scanner) line() error {
	at := s.start + s.column
	if s.char(at) == '\t' || s.char(at) == '%' {
		return s.unsupported("a tab or a directive")
	}
	if err := s.settle(s.column, s.isDash(at)); err != nil {
		return err
	}
	s.leaf = Leaf{Start: s.start, Line: s.number}
	for s.isDash(at) {
		s.enter(at-s.start, true)
		s.leaf.Column = at - s.start
		at++
		for s.char(at) == ' ' {
			at++
		}
		s.leaf.Dashed = true
		if s.char(at) == '\n' || s.char(at) == '#' {
			s.pending = true
			return nil
		}
	}
	key, after, isKey, err := s.key(at)
	if err != nil {
		return err
	}
	if isKey {
		s.leaf.Column = at - s.start
		s.enter(s.leaf.Column, false)
		s.path[len(s.path)-1].Key = key
		at = after
	} else {
		s.leaf.Dashed = false
		if len(s.frames) == 0 || !s.frames[len(s.frames)-1].sequence {
			return s.unsupported("a scalar where a key is expected")
		}
	}
	if s.char(at) == '\n' || s.char(at) == '#' {
		s.leaf.ValueStart = at
		s.leaf.End = s.end
		s.pending = true
		return nil
	}
	s.leaf.ValueStart = at
	return s.value(at)
}

// settle closes the collections that a line at a column is outside of, and
// reports an entry that got no value. A column of -1 is the end of the text.
func (s *scanner) settle(column int, dash bool) error {
	if s.pending {
		s.pending = false
		top := s.frames[len(s.frames)-1]
		if column > top.column || (column == top.column && dash && !top.sequence) {
			return nil
		}
		s.leaf.Kind, s.leaf.End = Null, lineEnd(s.text, s.leaf.Start)
		if err := s.emit(); err != nil {
			return err
		}
	} else if n := len(s.frames); n > 0 && column > s.frames[n-1].column {
		return s.unsupported("a value on several lines")
	}
	for n := len(s.frames); n > 0; n = len(s.frames) {
		top := s.frames[n-1]
		if top.column < column || (top.column == column && (!top.sequence || dash)) {
			break
		}
		s.frames, s.path = s.frames[:n-1], s.path[:n-1]
	}
	n := len(s.frames)
	if s.started && column >= 0 && (n == 0 || s.frames[n-1].column != column) {
		return s.unsupported("an indentation that fits no line above")
	}
	s.started = true
	return nil
}

// enter makes a collection at a column the innermost one, opening it or moving
// to its next entry.
func (s *scanner) enter(column int, sequence bool) {
	if n := len(s.frames); n > 0 && s.frames[n-1] == (frame{column, sequence}) {
		if sequence {
			s.path[n-1].Index++
		}
		return
	}
	s.frames = append(s.frames, frame{column, sequence})
	if sequence {
		s.path = append(s.path, Index(0))
	} else {
		s.path = append(s.path, Key(""))
	}
}

func (s *scanner) emit() error {
	s.leaf.Path = s.path
	return s.visit(&s.leaf)
}
