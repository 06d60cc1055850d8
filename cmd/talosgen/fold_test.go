package main

import (
	"strings"
	"testing"
)

// TestWrapped has lines, and what they are on a terminal of 30 columns.
func TestWrapped(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"short", "  + server/a", "  + server/a"},
		{"as wide as the terminal", strings.Repeat("x", 30), strings.Repeat("x", 30)},
		{"long", "  + server/prod-worker-1: cpx22 in fsn1", "  + server/prod-worker-1:\n      cpx22 in fsn1"},
		{"twice", "one two three four five six seven eight nine ten eleven", "one two three four five six\n    seven eight nine ten\n    eleven"},
		{"a word that is too long stays whole", "create " + strings.Repeat("x", 40) + " 1.0 s", "create\n    " + strings.Repeat("x", 40) + "\n    1.0 s"},
		{"one that fits without being hung", "  create " + strings.Repeat("x", 28), "  create\n  " + strings.Repeat("x", 28)},
		{"a number and its unit", "0123456789 0123456789 0123 1.5 s", "0123456789 0123456789 0123\n    1.5 s"},
		{"columns stay", "  a    b", "  a    b"},
		{"colours take no room", "\x1b[31m+\x1b[0m 0123456789 0123456789 01234", "\x1b[31m+\x1b[0m 0123456789 0123456789 01234"},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(wrapped(c.line, 30), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	for _, width := range []int{0, 1, 5} {
		if got := wrapped("  a line of words", width); len(got) != 1 {
			t.Errorf("at a width of %d: %q", width, got)
		}
	}
}

// FuzzWrapped: nothing is lost but blanks, and no line is too long that has two words.
func FuzzWrapped(f *testing.F) {
	f.Add("  + server/prod-worker-1: cpx22 in fsn1", 20)
	f.Add("\x1b[1mPlan: 1 to add\x1b[0m", 12)
	f.Fuzz(func(t *testing.T, line string, width int) {
		if strings.ContainsAny(line, "\n\t\x1b") {
			return
		}
		lines := wrapped(line, width)
		if got, want := strings.Join(strings.Fields(strings.Join(lines, " ")), " "), strings.Join(strings.Fields(line), " "); got != want {
			t.Errorf("%q is %q", line, lines)
		}
	})
}
