package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestParse has what programs print, and what of it is seen.
func TestParse(t *testing.T) {
	long := strings.Repeat("é", columns+1)
	for _, c := range []struct {
		text string
		want []line
	}{
		{"plain\n\nlast\n", []line{{{"", "plain"}}, nil, {{"", "last"}}}},
		{"\x1b[32m+\x1b[0m node", []line{{{"green", "+"}, {"", " node"}}}},
		{"a\x1b[35mb", []line{{{"", "a"}, {"", "b"}}}}, // a colour that is not known is none
		{long, []line{{{"", strings.Repeat("é", columns-1) + "…"}}}},
		{strings.Repeat("x", columns), []line{{{"", strings.Repeat("x", columns)}}}},
	} {
		got := parse(c.text)
		if !slices.EqualFunc(got, c.want, slices.Equal[line]) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
	}
}

// TestDraw: a picture is XML, whatever a program prints, and has all that it printed.
func TestDraw(t *testing.T) {
	picture := draw("x <y> & z", parse("<b>\x1b[31m&amp;\x1b[0m\n"+strings.Repeat("line\n", 100)))
	d := xml.NewDecoder(strings.NewReader(picture))
	var text strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			text.Write(data)
		}
	}
	for _, want := range []string{"$ x <y> & z", "<b>&amp;", "line"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
	if n := strings.Count(text.String(), "line"); n != 100 {
		t.Errorf("%d lines of 100", n)
	}
}

// TestRecord: what a command prints on both streams is drawn, and one that fails is not.
func TestRecord(t *testing.T) {
	out := filepath.Join(t.TempDir(), "x.svg")
	if err := record(out, "hello", []string{"sh", "-c", "echo one; echo two >&2; test -z \"$NO_COLOR\""}); err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(picture), ">one<") || !strings.Contains(string(picture), ">two<") {
		t.Errorf("%s", picture)
	}
	if err := record(out, "hello", []string{"sh", "-c", "echo no; exit 3"}); err == nil || !strings.Contains(err.Error(), "no") {
		t.Errorf("a command that fails: %v", err)
	}
	if err := record(out, "", []string{"true"}); err == nil {
		t.Error("without a title")
	}
}
