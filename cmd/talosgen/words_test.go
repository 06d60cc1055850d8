package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// homeMade are words that people find in no other tool of this field. A text says
// who or what is meant instead: the operator, another run, an attacker.
var homeMade = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever|everybody)\b`)

// homeMadeFor holds more of them for messages and help: a cluster is healthy, a
// node is unreachable, a plan is saved.
var homeMadeFor = regexp.MustCompile(`(?i)\b(is well|anew|living|that was kept|let in by|says what)\b`)

// TestWordsOfMessages finds home-made words in messages and help.
func TestWordsOfMessages(t *testing.T) {
	for _, m := range slices.Concat(sourceMessages(t), scaffoldMessages(t)) {
		for _, words := range []*regexp.Regexp{homeMade, homeMadeFor} {
			if word := words.FindString(m.text); word != "" {
				t.Errorf("%s: %q is no word of this field, in %q", m.at, word, m.text)
			}
		}
	}
}

// quoted is what a page has from elsewhere, such as a message.
var quoted = regexp.MustCompile("`[^`]*`")

// TestWordsOfPages finds home-made words in the pages for people. What a program
// has printed is no part of them.
func TestWordsOfPages(t *testing.T) {
	pages := 0
	walk(t, func(name string) bool {
		return strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, "docs/reference/faults")
	}, func(name string, data []byte) {
		pages++
		printed := false
		for i, line := range strings.Split(string(data), "\n") {
			if strings.HasPrefix(line, "```") {
				printed = !printed
			}
			if word := homeMade.FindString(quoted.ReplaceAllString(line, "")); word != "" && !printed {
				t.Errorf("%s:%d: %q is no word of this field", name, i+1, word)
			}
		}
	})
	if pages < 50 {
		t.Errorf("%d pages", pages)
	}
}
