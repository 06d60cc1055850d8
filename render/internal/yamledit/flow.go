package yamledit

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v4"
)

// insertFlowEntry writes an entry into a mapping in braces.
func (f splicer) insertFlowEntry(m *yaml.Node, place int, text string) []splice {
	if place == 0 {
		at := f.start(m) + 1
		return []splice{{at, at, text}}
	}
	at := f.entryEnd(m, place-2, 0)
	return []splice{{at, at, ", " + text}}
}

// insertFlowItem writes an item into a list in brackets that has items.
func (f splicer) insertFlowItem(list *yaml.Node, index int, value *yaml.Node) []splice {
	text, newline := inline(value), f.newline()
	if index < len(list.Content) {
		at := f.offset(list.Content[index])
		if alone := f.alone(list.Content[index]); alone {
			return []splice{{at, at, text + "," + newline + strings.Repeat(" ", f.column(at))}}
		}
		return []splice{{at, at, text + ", "}}
	}
	last := list.Content[index-1]
	end := f.end(last, 0)
	if !f.alone(last) {
		return []splice{{end, end, ", " + text}}
	}
	line := f.insertLines(f.line(end-1)+1, f.column(f.offset(last)), []string{text + ","})
	if behind, comma := f.comma(end); comma && behind > end {
		return line
	}
	line[0].text = strings.Replace(line[0].text, text+",", text, 1)
	return append([]splice{{end, end, ","}}, line...)
}

// removeFlowItem takes an item out of a list in brackets.
func (f splicer) removeFlowItem(list *yaml.Node, index int) []splice {
	n := list.Content[index]
	from, end := f.offset(n), f.end(n, 0)
	behind, _ := f.comma(end)
	last := index+1 == len(list.Content)
	switch {
	case len(list.Content) == 1 && !bytes.ContainsRune(f.text[f.start(list):f.end(list, 0)], '#'):
		return []splice{{f.start(list) + 1, f.end(list, 0) - 1, ""}}
	case f.alone(n):
		return f.cutLines(f.line(from), f.line(end-1)+1)
	case !last:
		return []splice{{from, f.gap(behind, f.offset(list.Content[index+1])), ""}}
	case index > 0:
		before := f.end(list.Content[index-1], 0)
		if f.gap(before, from) == from {
			return []splice{{before, end, ""}}
		}
	}
	return []splice{{from, behind, ""}}
}
