// Package printable makes text that others chose fit for a terminal and for the
// log of a CI: names of files and objects, and what servers answer, can hold
// characters that move the cursor, hide what is written, begin a line that looks
// like somebody else's, or give orders to the system that reads the log. It is
// pure.
package printable

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line makes one line of a text: line breaks and all other characters that
// control something are written as Go escapes them, such as \n and \x1b.
func Line(text string) string { return escaped(text, "") }

// Text is [Line] for a text of several lines, whose line breaks and tabs stay. A
// line that the runner of a CI would take for an order gets a backslash in front.
func Text(text string) string { return withoutOrders(escaped(text, "\n\t")) }

func escaped(text, stays string) string {
	if !strings.ContainsFunc(text, controls) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case strings.ContainsRune(stays, r) || !controls(r):
			b.WriteRune(r)
		case strings.ContainsRune("\n\r\t", r):
			b.WriteString(map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`}[r])
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}

// JSON is JSON in which every such character is escaped as JSON has it; the line
// breaks between values stay.
func JSON(data []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(data) {
		switch high, low := utf16.EncodeRune(r); {
		case r == '\n' || !controls(r):
			b.WriteRune(r)
		case high != utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// controls reports whether a character is not only itself: control characters,
// line and paragraph separators, those that turn the direction of text or have no
// width, and what is no character.
func controls(r rune) bool {
	return unicode.Is(unicode.C, r) && !unicode.Is(unicode.Co, r) || unicode.In(r, unicode.Zl, unicode.Zp) || r == utf8.RuneError
}

// order begins a line that GitHub's or Azure's runner does not print, but obeys.
var order = regexp.MustCompile(`(?m)^[ \t]*(::|##\[|##vso\[)`)

func withoutOrders(text string) string {
	return order.ReplaceAllStringFunc(text, func(begin string) string {
		blank := begin[:len(begin)-len(strings.TrimLeft(begin, " \t"))]
		return blank + `\` + begin[len(blank):]
	})
}

// Writer returns a writer that makes [Text] of what passes through, but leaves
// the given sequences as they are, such as those of colours. Each Write is looked
// at by itself, so callers write whole lines.
func Writer(w io.Writer, allowed ...string) io.Writer {
	keep := make([]string, 0, 2*len(allowed))
	restore := make([]string, 0, 2*len(allowed))
	for i, sequence := range allowed {
		private := string(rune(firstPrivate + i))
		keep = append(keep, private, `\u`+fmt.Sprintf("%04x", firstPrivate+i), sequence, private)
		restore = append(restore, private, sequence)
	}
	return &writer{w, strings.NewReplacer(keep...), strings.NewReplacer(restore...)}
}

// firstPrivate is the first of the characters that stand for what is allowed.
const firstPrivate = 0xE000

type writer struct {
	w             io.Writer
	keep, restore *strings.Replacer
}

// Write writes what is left of p.
func (w *writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, w.restore.Replace(Text(w.keep.Replace(string(p))))); err != nil {
		return 0, err
	}
	return len(p), nil
}
