package main

import (
	"strings"
	"unicode"
)

// size is how large a terminal is; 0 where that is not known.
type size struct{ columns, rows int }

// hang is how much further than a line its continuation begins.
const hang = "    "

// fittedTo is a text in lines that fit a terminal.
func fittedTo(text string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapped(line, width)...)
	}
	return strings.Join(lines, "\n")
}

// wrapped breaks a line of text for a terminal between words. A word that is too long
// for a line stays whole, so that it can be copied. What has colours is as wide as it
// is seen.
func wrapped(line string, width int) (lines []string) {
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	if width <= 2*(len(indent)+len(hang)) || seenWidth(line) <= width {
		return []string{line}
	}
	begin := indent
	for _, word := range wordsOf(text) {
		if n := len(lines); n > 0 && seenWidth(lines[n-1])+seenWidth(word) <= width {
			lines[n-1] += word
			continue
		}
		if n := len(lines); n > 0 {
			lines[n-1] = strings.TrimRight(lines[n-1], " ")
			word, begin = strings.TrimLeft(word, " "), indent+hang
		}
		if room := width - seenWidth(word); room >= 0 && room < len(begin) {
			begin = begin[:room]
		}
		lines = append(lines, begin+word)
	}
	return lines
}

// wordsOf are the words of a text, each with the blanks before it. A number and its unit
// are one.
func wordsOf(text string) (words []string) {
	for text != "" {
		blanks := len(text) - len(strings.TrimLeft(text, " "))
		end := strings.IndexByte(text[blanks:], ' ')
		if end < 0 {
			end = len(text) - blanks
		}
		word := text[:blanks+end]
		text = text[blanks+end:]
		if n := len(words); n > 0 && units[strings.TrimRight(word, ":,;)")] && endsInDigit(words[n-1]) {
			words[n-1] += word
			continue
		}
		words = append(words, word)
	}
	return words
}

// units are words that stay with the number before them.
var units = map[string]bool{" s": true, " MB": true, " %": true}

func endsInDigit(word string) bool {
	last := word[len(word)-1]
	return '0' <= last && last <= '9'
}

// seenWidth is how many columns a text takes: colours take none.
func seenWidth(text string) (columns int) {
	for {
		before, rest, coloured := strings.Cut(text, "\x1b[")
		for _, r := range before {
			if !unicode.Is(unicode.Mn, r) {
				columns++
			}
		}
		if !coloured {
			return columns
		}
		_, text, _ = strings.Cut(rest, "m")
	}
}

// mostOfNote is how many lines the only thing takes at most that is being done.
const mostOfNote = 4

// folded breaks a line for a terminal where it must not be longer: between words, or
// else behind a character that divides names. Of what is too long even so, the last
// line is cut.
func folded(line string, width int) (lines []string) {
	const hang = "      "
	room := width - 1
	for len(lines) < mostOfNote-1 && len([]rune(line)) > room && room > 2*len(hang) {
		runes := []rune(line)
		at := breakAt(runes, room)
		lines = append(lines, strings.TrimRight(string(runes[:at]), " "))
		line = hang + strings.TrimLeft(string(runes[at:]), " ")
	}
	return append(lines, line)
}

// breakAt is where a text is broken that has room for so many characters.
func breakAt(text []rune, room int) int {
	for at := room; at > room/2; at-- {
		if text[at] == ' ' {
			return at
		}
	}
	for at := room; at > room/2; at-- {
		if strings.ContainsRune("/.-:,", text[at-1]) {
			return at
		}
	}
	return room
}

// fit cuts a line for a terminal, on which a longer one would be two.
func fit(line string, width int) string {
	runes := []rune(line)
	if width < 2 || len(runes) < width {
		return line
	}
	return string(runes[:width-2]) + "…"
}
