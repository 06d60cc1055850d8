package subst

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// position is the place in the file of the byte at offset in a scalar's value:
// exact for a scalar on one line, the line for a literal block, else where the
// scalar starts.
func position(file string, n *yaml.Node, offset int) diag.Pos {
	start := diag.Pos{File: file, Line: n.Line, Column: n.Column}
	before := n.Value[:offset]
	// The node starts at its tag or anchor, however far that is from the text.
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return start
	}
	if n.Style&yaml.LiteralStyle != 0 {
		return diag.Pos{File: file, Line: n.Line + 1 + strings.Count(before, "\n")}
	}
	if n.Style&yaml.FoldedStyle != 0 || strings.Contains(n.Value, "\n") {
		return start
	}
	column := n.Column + utf8.RuneCountInString(before)
	switch {
	case n.Style&yaml.SingleQuotedStyle != 0:
		column += 1 + strings.Count(before, "'") // written twice each
	case n.Style&yaml.DoubleQuotedStyle != 0:
		if strings.ContainsFunc(before, needsEscape) {
			return start
		}
		column++
	}
	return diag.Pos{File: file, Line: n.Line, Column: column}
}

// needsEscape tells whether a character of a double-quoted scalar was probably
// written as an escape sequence, whose length is not known any more.
func needsEscape(r rune) bool { return r == '"' || r == '\\' || !unicode.IsPrint(r) }
