package plan

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable returns a text in which nothing can move the cursor of a terminal.
func Printable(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
