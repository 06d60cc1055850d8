package secret

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shortestPart is the length in bytes from which a part of a value gives
// something away.
const shortestPart = 5

// Hide masks values in a message that is about them and was made elsewhere:
// whole ones however short, where they stand as words, and what a message quotes
// of them, such as the port of a URL. Words that the message and a value have in
// common are not from the value, nor is what stands readable. Of a message of
// several lines, which show a value with the places that are wrong in it, only
// the first is kept.
func Hide(text string, values []String, readable *Readable) string {
	h := hider{readable: readable}
	for _, v := range values {
		quoted := strconv.Quote(v.Reveal())
		h.values = append(h.values, v.Reveal(), quoted[1:len(quoted)-1])
	}
	if hidden := h.line(text); hidden != text {
		first, _, _ := strings.Cut(text, "\n")
		return h.line(first)
	}
	return text
}

type hider struct {
	values   []string
	readable *Readable
}

func (h hider) line(text string) string {
	hidden := make([]bool, len(text))
	for _, v := range h.values {
		h.markWhole(hidden, text, v)
		h.markParts(hidden, text, v)
	}
	if !slices.Contains(hidden, true) {
		return text
	}
	return masked(text, hidden)
}

// markParts marks what a text and a value have in common.
func (h hider) markParts(hidden []bool, text, value string) {
	for i := 0; i+shortestPart <= len(text); i++ {
		n := shortestPart
		if !strings.Contains(value, text[i:i+n]) {
			continue
		}
		for i+n < len(text) && strings.Contains(value, text[i:i+n+1]) {
			n++
		}
		if h.quotes(text[i:i+n], text[i+n:]) {
			mark(hidden, i, i+n)
		}
	}
}

// quotes reports whether a part was taken from a value: it is no word, or it is
// cut off, and does not stand readable.
func (h hider) quotes(part, rest string) bool {
	cut := strings.HasPrefix(rest, "...") || strings.HasPrefix(rest, "…")
	word := strings.TrimFunc(part, func(r rune) bool { return !isLetterOrDigit(r) })
	return (cut || !isWord(word)) && !h.readable.Holds(part)
}

// markWhole marks a value in a text where no letter or digit continues it. One
// that is too short to be told from text counts if it stands readable too: what
// is that short stands readable somewhere by chance.
func (h hider) markWhole(hidden []bool, text, value string) {
	if value == "" || len(value) >= shortestPart && h.readable.Holds(value) {
		return
	}
	for at := 0; ; {
		i := strings.Index(text[at:], value)
		if i < 0 {
			return
		}
		start, end := at+i, at+i+len(value)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !continues(before, value) && !continues(after, value) {
			mark(hidden, start, end)
		}
		at = end
	}
}

// continues reports whether a character beside a value makes a longer word of
// it.
func continues(beside rune, value string) bool {
	return isLetterOrDigit(beside) && strings.IndexFunc(value, isLetterOrDigit) >= 0
}

func isLetterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
