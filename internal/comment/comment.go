// Package comment writes what a pipeline says on a pull request or in an issue: a table
// and folded texts, within the length that forges take. Whatever a text says, it stays in
// its place: it closes no fence, ends no cell and mentions nobody. It is pure.
package comment

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Limit is how many bytes a document has: GitHub takes 65,536 characters in a comment,
// and there is room for what a pipeline adds.
const Limit = 60000

// Document is a title, a table, and texts below it.
type Document struct {
	Title    string
	Head     []string
	Rows     [][]string // each as long as Head
	Sections []Section
}

// Section is a text under a line that unfolds it.
type Section struct {
	Name  string // what it is about
	Title string
	Text  string
	Open  bool // it is unfolded
}

// Write writes a document of at most limit bytes. A text that is too long is cut at the
// end of a line, and says so; what is short leaves its room to what comes after it.
func (d Document) Write(limit int) string {
	var b strings.Builder
	if d.Title != "" {
		b.WriteString("### " + inline(d.Title, mostTitle) + "\n")
	}
	d.table(&b, limit/2)
	left, without := limit-b.Len()-len(noRoom(len(d.Sections))), 0
	for i, s := range d.Sections {
		text := s.write(left / (len(d.Sections) - i))
		if text == "" {
			without++
		}
		b.WriteString(text)
		left -= len(text)
	}
	if without > 0 {
		b.WriteString(noRoom(without))
	}
	return b.String()
}

func noRoom(n int) string { return fmt.Sprintf("\n(%d more have no room here.)\n", n) }

// How long texts are that are no sections, in characters.
const (
	mostTitle = 200
	mostCell  = 120
)

// table writes the table into at most limit bytes.
func (d Document) table(b *strings.Builder, limit int) {
	if len(d.Rows) == 0 {
		return
	}
	b.WriteString("\n| " + strings.Join(d.Head, " | ") + " |\n" + strings.Repeat("|---", len(d.Head)) + "|\n")
	for i, row := range d.Rows {
		line := "|"
		for _, cell := range row {
			line += " " + inline(cell, mostCell) + " |"
		}
		if b.Len()+len(line) > limit {
			b.WriteString(noRoom(len(d.Rows) - i))
			return
		}
		b.WriteString(line + "\n")
	}
}

// plain is a text that means nothing but itself in Markdown.
var plain = regexp.MustCompile(`^[a-zA-Z0-9 .,:;()/%+=-]*$`)

// link is what GitHub makes a link of by itself.
var link = regexp.MustCompile(`(?i)://|www\.`)

// inline is a text within a line: code, in which nobody is mentioned and nothing is a
// link, if it is not plain.
func inline(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	if plain.MatchString(text) && !link.MatchString(text) {
		return text
	}
	return "<code>" + escape.Replace(html.EscapeString(text)) + "</code>"
}

// escape takes their meaning from the characters that HTML leaves alone.
var escape = strings.NewReplacer("www.", "www&#46;", "|", "&#124;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", "~", "&#126;", "\\", "&#92;", "$", "&#36;", "@", "&#64;", ":", "&#58;", "#", "&#35;")

// write writes a section into at most limit bytes; nothing if there is no room for a
// line of it.
func (s Section) write(limit int) string {
	open := ""
	if s.Open {
		open = " open"
	}
	fence := strings.Repeat("~", longestRun(s.Text)+1)
	head := fmt.Sprintf("\n<details%s><summary><b>%s</b>: %s</summary>\n\n%sdiff\n", open, inline(s.Name, mostTitle), inline(s.Title, mostTitle), fence)
	foot := "\n" + fence + "\n\n</details>\n"
	text, fits := cut(strings.TrimRight(s.Text, "\n"), limit-len(head)-len(foot))
	if !fits {
		return ""
	}
	return head + text + foot
}

// cut is as much of a text as fits into limit bytes, in whole lines, with how many are
// missing.
func cut(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return text, true
	}
	rest := func(n int) string { return fmt.Sprintf("… (%d more lines)", n) }
	lines := strings.Split(text, "\n")
	limit -= len(rest(len(lines)))
	size, n := 0, 0
	for n < len(lines) && size+len(lines[n])+1 <= limit {
		size += len(lines[n]) + 1
		n++
	}
	if n == 0 {
		return "", false
	}
	return strings.Join(lines[:n], "\n") + "\n" + rest(len(lines)-n), true
}

// longestRun is how many tildes stand together in a text, at least two: a fence is longer.
func longestRun(text string) int {
	longest, run := 2, 0
	for _, c := range text {
		if run++; c != '~' {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}
