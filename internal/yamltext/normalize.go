package yamltext

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// Normalize rewrites one document within the part of YAML that [Scan] reads.
// Comments, anchors and styles are lost; values and their order are kept.
func Normalize(text []byte) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("not YAML: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	if err := writeNode(&b, doc.Content[0], 0, 0); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

const (
	indentation = 4
	deepest     = 100 // levels; aliases can nest without end
)

// writeNode writes a collection at a column, each entry on lines of its own.
func writeNode(b *bytes.Buffer, n *yaml.Node, column, depth int) error {
	if depth > deepest {
		return fmt.Errorf("nested deeper than %d levels: %w", deepest, ErrUnsupported)
	}
	pad := strings.Repeat(" ", column)
	switch n.Kind {
	case yaml.AliasNode:
		return writeNode(b, n.Alias, column, depth+1)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || key.Tag == "!!null" || key.Tag == "!!merge" {
				return fmt.Errorf("line %d: a key that is not a plain scalar: %w", key.Line, ErrUnsupported)
			}
			b.WriteString(pad + scalarText(key) + ":")
			if err := writeValue(b, n.Content[i+1], column+indentation, depth); err != nil {
				return err
			}
		}
		return nil
	case yaml.SequenceNode:
		for _, item := range n.Content {
			b.WriteString(pad + "-")
			if err := writeValue(b, item, column+indentation, depth); err != nil {
				return err
			}
		}
		return nil
	default:
		return fmt.Errorf("line %d: a document that is a scalar: %w", n.Line, ErrUnsupported)
	}
}

// writeValue writes what follows a key or a dash.
func writeValue(b *bytes.Buffer, n *yaml.Node, column, depth int) error {
	if n.Kind == yaml.AliasNode {
		if depth > deepest {
			return fmt.Errorf("nested deeper than %d levels: %w", deepest, ErrUnsupported)
		}
		return writeValue(b, n.Alias, column, depth+1)
	}
	switch {
	case n.Kind == yaml.ScalarNode:
		b.WriteString(" " + scalarText(n) + "\n")
		return nil
	case len(n.Content) == 0 && n.Kind == yaml.MappingNode:
		b.WriteString(" {}\n")
		return nil
	case len(n.Content) == 0:
		b.WriteString(" []\n")
		return nil
	}
	b.WriteByte('\n')
	return writeNode(b, n, column, depth+1)
}

// scalarText prints a scalar on one line, so that it resolves as before.
func scalarText(n *yaml.Node) string {
	if n.Tag != "!!str" && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		if n.Tag == "!!null" {
			return "null"
		}
		// What is no string fits on a line; odd breaks may say otherwise.
		if !strings.ContainsFunc(n.Value, unicode.IsSpace) {
			return n.Value
		}
	}
	return Text(n.Value)
}

// Text prints a string as a scalar on one line, with quotes unless every reader
// of YAML takes it for a string without them.
func Text(s string) string {
	if plainSafe(s) {
		return s
	}
	return quote(s)
}

// plainSafe reports whether a text stays a string without quotes.
func plainSafe(s string) bool {
	if s == "" || resolve(s) != String || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+") != "" {
		return false
	}
	first := s[0]
	isLetter := (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '/'
	return isLetter && !strings.Contains(s, ": ") && !strings.HasSuffix(s, ":") && !isLikeBoolean(s)
}

// isLikeBoolean covers the words that older YAML readers take for booleans.
func isLikeBoolean(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	return false
}

// quote prints a double-quoted scalar. Unlike Go's, YAML's \x is a code point.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f || (r >= 0x80 && !strconv.IsPrint(r)):
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
