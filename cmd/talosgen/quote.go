package main

import (
	"strings"
	"unicode/utf8"
)

// quoteValue shows a value of a configuration on one line.
func quoteValue(v string) string {
	const longest = 72
	if first, _, several := strings.Cut(v, "\n"); several {
		v = first + " ..."
	}
	if r := []rune(v); len(r) > longest {
		v = string(r[:longest]) + "..."
	}
	if v == "" {
		return `""`
	}
	return v
}

// quoteChange shows two different values. If both begin alike and are too long
// to show, it leaves out the beginning: a new version is at the end of an image.
func quoteChange(old, now string) (string, string) {
	before, after := quoteValue(old), quoteValue(now)
	if before != after {
		return before, after
	}
	same := 0
	for same < min(len(old), len(now)) && old[same] == now[same] {
		same++
	}
	const context = 24
	from := max(strings.LastIndexAny(old[:same], " /:,=\n")+1, same-context)
	for from > 0 && !utf8.RuneStart((old + " ")[from]) {
		from--
	}
	return "..." + quoteValue(old[from:]), "..." + quoteValue(now[from:])
}
