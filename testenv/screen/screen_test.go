package screen

import "testing"

// TestWrite has what programs write, and what is on a screen of 10 columns and 4 lines.
func TestWrite(t *testing.T) {
	for _, c := range []struct{ name, written, want string }{
		{"lines", "a\r\nb\r\n", "a\nb\n"},
		{"a line break without a return", "ab\nc", "ab\n  c\n"},
		{"a line as wide as the screen", "0123456789\r\nx", "0123456789\nx\n"},
		{"a longer one", "0123456789abc\r\nx", "0123456789\nabc\nx\n"},
		{"scrolled", "1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5\n"},
		{"drawn anew", "one\r\ntwo\r\x1b[1A\x1b[Jthree", "three\n"},
		{"drawn anew behind what was typed", "one\r\n^C\r\x1b[1A\x1b[Jx", "x\n"},
		{"up, but not off the screen", "1\r\n2\r\x1b[9Ax", "x\n2\n"},
		{"colours", "\x1b[31mred\x1b[0m", "red\n"},
		{"what is wider than a byte", "é…", "é…\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewScreen(10, 4)
			for _, b := range []byte(c.written) { // in pieces
				_, _ = s.Write([]byte{b})
			}
			if got := s.Text(); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			if len(s.Unknown) > 0 {
				t.Errorf("unknown: %q", s.Unknown)
			}
		})
	}
}

// TestUnknown: what the screen does not know is noticed, and so is a hidden cursor.
func TestUnknown(t *testing.T) {
	s := NewScreen(10, 4)
	_, _ = s.Write([]byte("\x1b[?25l\x1b[2Kx\x1b7\x01\a"))
	if !s.Hidden || len(s.Unknown) != 3 || s.Bells != 1 {
		t.Errorf("hidden %t, unknown %q, %d bells", s.Hidden, s.Unknown, s.Bells)
	}
}

// TestResize has what is on a screen of 10 columns and 4 lines, and on one of another size
// then, with lines broken anew and cut.
func TestResize(t *testing.T) {
	for _, c := range []struct {
		name, written string
		columns, rows int
		reflown, cut  string
	}{
		{"narrower", "12345678\r\nab\r\n", 5, 4, "12345\n678\nab\n", "12345\nab\n"},
		{"wider", "0123456789abc\r\n", 20, 4, "0123456789abc\n", "0123456789\nabc\n"},
		{"lower", "1\r\n2\r\n3\r\n4", 10, 2, "3\n4\n", "3\n4\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for reflows, want := range map[bool]string{true: c.reflown, false: c.cut} {
				s := NewScreen(10, 4)
				s.Reflows = reflows
				_, _ = s.Write([]byte(c.written))
				s.Resize(c.columns, c.rows)
				if got := s.Text(); got != want {
					t.Errorf("breaks lines anew: %t: got\n%swant\n%s", reflows, got, want)
				}
			}
		})
	}
}

// TestResizeKeepsCursor: the cursor stays at the character where it was.
func TestResizeKeepsCursor(t *testing.T) {
	s := NewScreen(10, 4)
	_, _ = s.Write([]byte("12345678\r\nabcdefgh\r\x1b[1A"))
	s.Resize(5, 4)
	_, _ = s.Write([]byte("\x1b[Jx"))
	if got := s.Text(); got != "x\n" {
		t.Errorf("got\n%s", got)
	}
	s = NewScreen(10, 4)
	_, _ = s.Write([]byte("12345678\r\nabcdefgh\r"))
	s.Resize(5, 4)
	_, _ = s.Write([]byte("\x1b[Jx"))
	if got := s.Text(); got != "12345\n678\nx\n" {
		t.Errorf("got\n%s", got)
	}
}
