package main

import (
	"strings"
	"testing"
)

func TestQuoteChange(t *testing.T) {
	image := "registry.example.com/" + strings.Repeat("0123456789abcdef", 4) + ":v1."
	for _, c := range []struct{ old, now, wantOld, wantNow string }{
		{"a", "b", "a", "b"},
		{"", "b", `""`, "b"},
		{image + "13", image + "14", "...v1.13", "...v1.14"},
		{image, image + "14", "...v1.", "...v1.14"},
		{"first\nsame\nold\nlast", "first\nsame\nnew\nlast", "...old ...", "...new ..."},
		{strings.Repeat("x", 99), strings.Repeat("x", 99) + "y", "..." + strings.Repeat("x", 24), "..." + strings.Repeat("x", 24) + "y"},
		{strings.Repeat("é", 99) + "ä", strings.Repeat("é", 99) + "ö", "..." + strings.Repeat("é", 12) + "ä", "..." + strings.Repeat("é", 12) + "ö"},
		{strings.Repeat("x", 99), strings.Repeat("x", 98), "..." + strings.Repeat("x", 25), "..." + strings.Repeat("x", 24)},
	} {
		if old, now := quoteChange(c.old, c.now); old != c.wantOld || now != c.wantNow {
			t.Errorf("%q -> %q: got %q -> %q, want %q -> %q", c.old, c.now, old, now, c.wantOld, c.wantNow)
		}
	}
}
