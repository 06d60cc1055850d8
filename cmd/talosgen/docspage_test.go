package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is a page of the documentation. Its examples are fenced blocks:
//
//   - console: each line with "$ " in front is a command, the lines below it
//     are what it prints. "…" stands for what is left out: on a line of its own
//     for any lines, in a line for any text.
//   - diff, with a file as its "--- " and "+++ " lines: the file is changed that
//     way. If the file is secrets.sops.yaml, the next editor that a command
//     starts makes the change.
//   - others that begin with "# path/of/a/file": the file is written.
type page struct {
	lines  []docLine
	blocks []*block
}

// docLine is a line of a page; in code if it belongs to a fenced block.
type docLine struct {
	text string
	code bool
}

var codeSpan = regexp.MustCompile("`[^`]*`")

// prose is the line as far as it is not code.
func (l docLine) prose() string {
	if l.code {
		return ""
	}
	return codeSpan.ReplaceAllString(l.text, "``")
}

// block is a fenced block.
type block struct {
	language string
	indent   string
	line     int // of the first line in it, as an index
	lines    []string
}

func parsePage(text string) (*page, error) {
	p := &page{}
	var open *block
	for i, line := range strings.Split(text, "\n") {
		content := strings.TrimLeft(line, " ")
		fence := strings.HasPrefix(content, "```")
		p.lines = append(p.lines, docLine{line, fence || open != nil})
		switch {
		case fence && open == nil:
			open = &block{language: content[3:], indent: line[:len(line)-len(content)], line: i + 1}
		case fence:
			p.blocks = append(p.blocks, open)
			open = nil
		case open != nil:
			open.lines = append(open.lines, strings.TrimPrefix(line, open.indent))
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%d: the block is not closed", open.line)
	}
	return p, nil
}

func (p *page) hasExamples() bool {
	return slices.ContainsFunc(p.blocks, func(b *block) bool { return b.language == "console" })
}

// text is the page with what the commands printed in the place of what does not
// fit.
func (p *page) text() string {
	var out []string
	next := 0
	for _, b := range p.blocks {
		for ; next < b.line; next++ {
			out = append(out, p.lines[next].text)
		}
		for _, line := range b.lines {
			out = append(out, strings.TrimRight(b.indent+line, " "))
		}
		for next < len(p.lines) && strings.TrimLeft(p.lines[next].text, " ") != "```" {
			next++
		}
	}
	for ; next < len(p.lines); next++ {
		out = append(out, p.lines[next].text)
	}
	return strings.Join(out, "\n")
}

// example is a command with what it is to print.
type example struct {
	command string
	want    []string
}

func (b *block) examples() []example {
	var all []example
	for _, line := range b.lines {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, example{command: command})
		} else if len(all) > 0 {
			last := &all[len(all)-1]
			last.want = append(last.want, line)
		}
	}
	return all
}

// set puts examples back.
func (b *block) set(all []example) {
	b.lines = nil
	for _, e := range all {
		b.lines = append(append(b.lines, "$ "+e.command), e.want...)
	}
}

const leftOut = "…"

// matches reports whether a command printed what it was to print.
func (e example) matches(printed string) bool {
	var pattern strings.Builder
	for _, line := range e.want {
		if strings.TrimSpace(line) == leftOut {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		quoted := regexp.QuoteMeta(strings.TrimRight(line, " "))
		pattern.WriteString(strings.ReplaceAll(quoted, leftOut, ".*") + ` *\n`)
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(printed)
}

// long are texts of which a page shows the beginning.
var long = regexp.MustCompile(`(ENC\[AES256_GCM,data:|[a-z-]*sha256[:-][0-9a-f]{8}|(?m:^index )|\bage1)[^\]\s]*`)

// shorten makes what was printed into what a page shows.
func shorten(printed string) []string {
	printed = strings.TrimSuffix(long.ReplaceAllString(printed, "$1"+leftOut), "\n")
	if printed == "" {
		return nil
	}
	return strings.Split(printed, "\n")
}

// target returns the file that a block writes or changes.
func (b *block) target() (file string, isDiff bool) {
	if b.language == "diff" && len(b.lines) > 2 {
		if file, ok := strings.CutPrefix(b.lines[0], "--- "); ok && b.lines[1] == "+++ "+file {
			return file, true
		}
	}
	if b.language == "console" || b.language == "diff" || len(b.lines) == 0 {
		return "", false
	}
	file, ok := strings.CutPrefix(b.lines[0], "# ")
	if !ok || !strings.Contains(file, "/") || strings.ContainsAny(file, " :<*") {
		return "", false
	}
	return file, false
}

// patch applies the lines of a diff. The lines that it changes must be in the
// text, once; without such lines, it adds to the end.
func (b *block) patch(text string) (string, error) {
	var old, now strings.Builder
	for _, line := range b.lines[2:] {
		if line == "" {
			line = " "
		}
		if line[0] != '+' {
			old.WriteString(line[1:] + "\n")
		}
		if line[0] != '-' {
			now.WriteString(line[1:] + "\n")
		}
	}
	if old.Len() == 0 {
		return text + now.String(), nil
	}
	text, found := "\n"+text, "\n"+old.String()
	at := strings.Index(text, found)
	if at < 0 || at != strings.LastIndex(text, found) {
		return "", fmt.Errorf("%d: the lines before the change are not in the file, or not once", b.line+1)
	}
	return text[1:at+1] + now.String() + text[at+len(found):], nil
}

func TestPageParsing(t *testing.T) {
	text := "# A page\n\n1. Do:\n\n   ```console\n   $ a\n   x … y\n   …\n   $ b\n   ```\n\n```diff\n--- f\n+++ f\n a\n-b\n+c\n```\n"
	p, err := parsePage(text)
	if err != nil {
		t.Fatal(err)
	}
	if p.text() != text {
		t.Errorf("the page changed:\n%s", p.text())
	}
	all := p.blocks[0].examples()
	if len(all) != 2 || all[0].command != "a" || len(all[0].want) != 2 || len(all[1].want) != 0 {
		t.Fatalf("examples: %v", all)
	}
	for printed, want := range map[string]bool{
		"x 1 y\n": true, "x 1 y\nmore\nlines\n": true, "x 1 z\n": false, "more\nx 1 y\n": false, "x 1\ny\n": false, "": false,
	} {
		if all[0].matches(printed) != want {
			t.Errorf("%q: matches is not %v", printed, want)
		}
	}
	if all[1].matches("something\n") {
		t.Error("something matches nothing")
	}
	p.blocks[0].set([]example{{"a", shorten("1\n2\n")}, {"b", nil}})
	if want := strings.Replace(text, "   x … y\n   …\n", "   1\n   2\n", 1); p.text() != want {
		t.Errorf("with other output:\n%s", p.text())
	}
	if got, err := p.blocks[1].patch("b\na\nb\n"); err != nil || got != "b\na\nc\n" {
		t.Errorf("patched: %q, %v", got, err)
	}
	for _, bad := range []string{"a\nc\n", "a\nb\na\nb\n", "xa\nb\n"} {
		if _, err := p.blocks[1].patch(bad); err == nil {
			t.Errorf("%q was patched", bad)
		}
	}
	if _, err := parsePage("```\nopen"); err == nil {
		t.Error("an open block was accepted")
	}
}
