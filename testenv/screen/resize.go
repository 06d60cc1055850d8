package screen

// Resize changes the size of the screen.
func (s *Screen) Resize(columns, rows int) {
	if s.Reflows {
		s.reflow(columns)
	} else {
		s.cut(columns)
	}
	s.columns, s.rows, s.wraps = columns, rows, false
	s.top = max(0, min(s.top, s.y), s.last()-rows+1)
	s.fill()
}

// last is the last line with something on it, or the cursor.
func (s *Screen) last() int {
	last := len(s.lines) - 1
	for last > s.y && len(s.lines[last].cells) == 0 {
		last--
	}
	return last
}

// cut takes away what is outside of a smaller screen.
func (s *Screen) cut(columns int) {
	for i := range s.lines {
		l := &s.lines[i]
		l.cells, l.wrapped = l.cells[:min(columns, len(l.cells))], false
	}
	s.x = min(s.x, columns-1)
}

// reflow breaks all lines for another width. The cursor stays at its character.
func (s *Screen) reflow(columns int) {
	last := s.last()
	var lines []row
	var x, y, top int
	for i := 0; i <= last; {
		var whole []cell // a line as it was written
		at, begins := -1, false
		for wrapped := true; wrapped && i <= last; i++ {
			if i == s.y {
				at = len(whole) + s.x
			}
			begins = begins || i == s.top
			whole = append(whole, s.lines[i].cells...)
			wrapped = s.lines[i].wrapped
		}
		if at >= 0 {
			x, y = at%columns, len(lines)+at/columns
		}
		if begins {
			top = len(lines)
		}
		lines = append(lines, broken(whole, columns)...)
	}
	for len(lines) <= y {
		lines = append(lines, row{})
	}
	s.lines, s.x, s.y, s.top = lines, x, y, top
}

// broken are the lines of a text.
func broken(whole []cell, columns int) (lines []row) {
	for len(whole) > columns {
		lines = append(lines, row{cells: whole[:columns:columns], wrapped: true})
		whole = whole[columns:]
	}
	return append(lines, row{cells: whole})
}
