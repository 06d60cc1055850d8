package yamledit

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Text is a text as a value.
func Text(s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
}

// Number is a number as a value.
func Number(n int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(n)}
}

// Bool is true or false as a value.
func Bool(b bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(b)}
}

// Numbers is a list of numbers, written in brackets.
func Numbers(numbers []int) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	for _, n := range numbers {
		list.Content = append(list.Content, Number(n))
	}
	return list
}

// List is a list of values, one on each line.
func List(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: items}
}

// Texts is a list of texts, one on each line.
func Texts(texts []string) *yaml.Node {
	list := List()
	for _, t := range texts {
		list.Content = append(list.Content, Text(t))
	}
	return list
}

// TextMap is a mapping of texts, sorted by key.
func TextMap(texts map[string]string) *yaml.Node {
	m := Map()
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		With(m, key, Text(texts[key]))
	}
	return m
}

// Map is an empty mapping, to be filled by [With].
func Map() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"} }

// With adds an entry to a mapping that is being made, and returns it.
func With(m *yaml.Node, key string, value *yaml.Node) *yaml.Node {
	m.Content = append(m.Content, Text(key), value)
	return m
}

// scalar writes a scalar on one line, with quotes if it needs them anywhere.
func scalar(n *yaml.Node) string {
	if n.Style&quoted == 0 && n.ShortTag() == "!!str" && isPlain(n.Value) {
		return n.Value
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{n}}
	out, err := yaml.Dump(list, yaml.WithLineWidth(-1), yaml.WithQuotePreference(yaml.QuoteDouble))
	if err != nil {
		return strconv.Quote(n.Value)
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(out)), "["), "]")
}

// isPlain tells whether a text needs no quotes: it has no character that means
// something to YAML, and is not taken for a number or the like.
func isPlain(s string) bool {
	if s == "" || strings.ContainsAny(s, " \t\r\n,[]{}#&*!|>'\"%@`\\?") || strings.HasPrefix(s, "-") || strings.HasSuffix(s, ":") || strings.Contains(s, ": ") {
		return false
	}
	var parsed yaml.Node
	err := yaml.Unmarshal([]byte(s), &parsed)
	return err == nil && len(parsed.Content) == 1 && parsed.Content[0].ShortTag() == "!!str" && parsed.Content[0].Value == s
}

// Deleted is what takes the place of a value that a lower file sets.
func Deleted() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!delete"} }

// DeletedItem takes the item away that has a name, in the list of a lower file.
func DeletedItem(key, name string) *yaml.Node {
	item := With(Map(), key, Text(name))
	item.Tag, item.Style = "!delete", yaml.FlowStyle
	return item
}

// Replacing is a list in place of that of a lower file.
func Replacing(list *yaml.Node) *yaml.Node {
	list.Tag = "!replace"
	return list
}

// inline writes a value on one line.
func inline(n *yaml.Node) string {
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		plain := *n
		plain.Tag = ""
		if n.Kind == yaml.ScalarNode && n.Value == "" {
			return n.Tag
		}
		return n.Tag + " " + inline(&plain)
	}
	var parts []string
	switch n.Kind {
	case yaml.SequenceNode:
		for _, c := range n.Content {
			parts = append(parts, inline(c))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, scalar(n.Content[i])+": "+inline(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	default:
		return scalar(n)
	}
}

// isInline tells whether a value is written on one line.
func isInline(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode || isFlow(n) || len(n.Content) == 0
}

// block writes a collection as lines, without indentation of their own.
func block(n *yaml.Node) []string {
	var lines []string
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			lines = append(lines, item(c)...)
		}
		return lines
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		lines = append(lines, entry(scalar(n.Content[i]), n.Content[i+1])...)
	}
	return lines
}

// entry writes a key and its value.
func entry(key string, value *yaml.Node) []string {
	if isInline(value) {
		return []string{key + ": " + inline(value)}
	}
	return append([]string{key + ":"}, indent(block(value), "  ")...)
}

// item writes an item of a list, with its dash.
func item(n *yaml.Node) []string {
	if isInline(n) {
		return []string{"- " + inline(n)}
	}
	lines := indent(block(n), "  ")
	lines[0] = "- " + lines[0][2:]
	return lines
}

func indent(lines []string, by string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = by + line
	}
	return out
}
