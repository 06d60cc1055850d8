package yamledit

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The parser tells where a node begins. Where it ends follows from the text:
// these functions find it. They may be wrong about YAML that is not valid or
// very strange, which the comparison after an edit notices.

// extents tell where nodes begin and end.
type extents struct{ layout }

// start is where the content of a node begins, behind its tag and anchor.
func (f extents) start(n *yaml.Node) int {
	at := f.offset(n)
	if n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 || n.Kind == yaml.AliasNode {
		return at
	}
	for at < len(f.text) && (f.text[at] == '&' || f.text[at] == '!') {
		for at < len(f.text) && !isSpace(f.text[at]) {
			at++
		}
		at = f.skip(at, "")
	}
	return at
}

// end is the offset behind a node, of which a line of its block has at least
// the indentation given.
func (f extents) end(n *yaml.Node, indent int) int {
	at := f.start(n)
	switch {
	case n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == yaml.TaggedStyle && n.Anchor == "":
		return f.word(f.offset(n)) // a tag alone, such as !delete
	case n.Kind == yaml.AliasNode:
		return min(at+1+len(n.Value), len(f.text))
	case n.Kind == yaml.ScalarNode:
		return f.scalarEnd(n, at, indent)
	case isFlow(n):
		return f.flowEnd(n, at)
	}
	end := at
	for i, c := range n.Content {
		own := column(n.Content[0])
		if n.Kind == yaml.SequenceNode {
			own = f.column(at)
		}
		if last := i+1 == len(n.Content); last && n.Kind == yaml.MappingNode {
			return f.entryEnd(n, i-1, own+1)
		} else if last {
			return max(end, f.end(c, own+1))
		}
	}
	return end
}

// word is the offset behind the characters up to a space, or to the end of a flow.
func (f extents) word(at int) int {
	for at < len(f.text) && !isSpace(f.text[at]) && !bytes.ContainsRune([]byte(",]}"), rune(f.text[at])) {
		at++
	}
	return at
}

// entryEnd is the offset behind an entry of a mapping: its value, or its key
// and colon if it has none.
func (f extents) entryEnd(n *yaml.Node, i, indent int) int {
	colon, ok := f.colon(n.Content[i], indent)
	if !ok || !isEmpty(n.Content[i+1]) {
		return max(colon, f.end(n.Content[i+1], indent))
	}
	return colon
}

// colon is the offset behind the colon of a key, or behind the key if it has
// none.
func (f extents) colon(key *yaml.Node, indent int) (int, bool) {
	end := f.end(key, indent)
	if at := f.skip(end, ""); at < len(f.text) && f.text[at] == ':' {
		return at + 1, true
	}
	return end, false
}

// isEmpty tells whether a node is a null that has no text.
func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

func (f extents) scalarEnd(n *yaml.Node, at, indent int) int {
	switch {
	case isEmpty(n):
		return at
	case n.Style&yaml.DoubleQuotedStyle != 0:
		return f.quotedEnd(at, '"')
	case n.Style&yaml.SingleQuotedStyle != 0:
		return f.quotedEnd(at, '\'')
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return f.literalEnd(at, indent)
	}
	// A plain scalar is folded: its words are in the text as they are.
	for _, word := range strings.Fields(n.Value) {
		i := bytes.Index(f.text[at:], []byte(word))
		if i < 0 {
			return at
		}
		at += i + len(word)
	}
	return at
}

func (f extents) quotedEnd(at int, quote byte) int {
	for at++; at < len(f.text); at++ {
		switch c := f.text[at]; {
		case c == '\\' && quote == '"':
			at++
		case c == quote && quote == '\'' && at+1 < len(f.text) && f.text[at+1] == quote:
			at++
		case c == quote:
			return at + 1
		}
	}
	return len(f.text)
}

// literalEnd is the end of the last line that says something and is indented
// as the block is.
func (f extents) literalEnd(at, indent int) int {
	last := f.line(at)
	for line := last + 1; line < f.count(); line++ {
		text := f.lineText(line)
		if strings.TrimSpace(text) == "" {
			continue
		}
		if indentation(text) < indent {
			break
		}
		last = line
	}
	return f.lines[last] + len(f.lineText(last))
}

// flowEnd is the offset behind the bracket of a collection, or behind its last
// entry if it has none.
func (f extents) flowEnd(n *yaml.Node, at int) int {
	bare := at >= len(f.text) || f.text[at] != '[' && f.text[at] != '{'
	if !bare {
		at++
	}
	switch last := len(n.Content) - 1; {
	case last < 0:
	case n.Kind == yaml.MappingNode:
		at = f.entryEnd(n, last-1, 0)
	default:
		at = f.end(n.Content[last], 0)
	}
	if bare {
		return at
	}
	if at = f.skip(at, ",:"); at < len(f.text) {
		at++
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// column is the column of a node, from 0.
func column(n *yaml.Node) int { return n.Column - 1 }

// column is how many bytes an offset is from the beginning of its line.
func (f layout) column(offset int) int { return offset - f.lines[f.line(offset)] }

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func isComment(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") }
func isBlank(line string) bool   { return strings.TrimSpace(line) == "" }
