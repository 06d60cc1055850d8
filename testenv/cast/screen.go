package main

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// columns is the width of the terminal.
const columns = 92

// span is a text of one style.
type span struct {
	class string // a class of the picture, such as green; empty: plain
	text  string
}

// line is a line of the terminal.
type line []span

// escape matches what changes the style of text.
var escape = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// styles are the classes for what programs of ours ask for.
var styles = map[string]string{"1": "bold", "31": "red", "32": "green", "33": "yellow", "36": "cyan"}

// parse reads what a program has printed, as lines that fit the terminal.
func parse(text string) (lines []line) {
	for raw := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		lines = append(lines, fit(spans(raw)))
	}
	return lines
}

// spans reads a line.
func spans(raw string) (all line) {
	class := ""
	for raw != "" {
		at := escape.FindStringSubmatchIndex(raw)
		if at == nil {
			return append(all, span{class, raw})
		}
		if at[0] > 0 {
			all = append(all, span{class, raw[:at[0]]})
		}
		class = styles[raw[at[2]:at[3]]]
		raw = raw[at[1]:]
	}
	return all
}

// fit cuts a line that is longer than the terminal is wide.
func fit(l line) (short line) {
	left := columns
	for _, s := range l {
		n := utf8.RuneCountInString(s.text)
		if n > left {
			return append(short, span{s.class, string([]rune(s.text)[:left-1]) + "…"})
		}
		left -= n
		short = append(short, s)
		if left == 0 {
			return short
		}
	}
	return short
}
