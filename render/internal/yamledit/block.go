package yamledit

import (
	"go.yaml.in/yaml/v4"
)

// insertEntry writes a new entry in front of the entry at a place of a mapping.
func (f splicer) insertEntry(m *yaml.Node, place int, key, value *yaml.Node) []splice {
	if isFlow(m) {
		return f.insertFlowEntry(m, place, scalar(key)+": "+inline(value))
	}
	if place == 0 {
		return nil // a mapping in lines has an entry
	}
	column := column(m.Content[0])
	line := f.line(max(f.entryEnd(m, place-2, column+1)-1, 0))
	return f.insertLines(line+1, column, entry(scalar(key), value))
}

// replaceValue writes the value of the entry at a place of a mapping.
func (f splicer) replaceValue(m *yaml.Node, i int, value *yaml.Node) []splice {
	old := m.Content[i+1]
	indent := 0
	if !isFlow(m) {
		indent = column(m.Content[0]) + 1
	}
	if !isFlow(old) && len(old.Content) > 0 {
		return nil
	}
	from, ok := f.colon(m.Content[i], indent)
	if !ok {
		return nil
	}
	to := from
	if !isEmpty(old) {
		from, to = f.offset(old), f.end(old, indent)
	}
	switch {
	case !isFlow(m) && !isInline(value):
		return f.blockValue(m, from, to, value)
	case isEmpty(old):
		return []splice{{from, to, " " + inline(value)}}
	default:
		return []splice{{from, to, inline(value)}}
	}
}

// blockValue takes a value out of a line, and writes one in lines below it.
func (f splicer) blockValue(m *yaml.Node, from, to int, value *yaml.Node) []splice {
	for from > 0 && from < to && f.text[from-1] == ' ' {
		from--
	}
	below := f.insertLines(f.line(max(to-1, 0))+1, column(m.Content[0])+2, block(value))
	return append([]splice{{from, to, ""}}, below...)
}

func (f splicer) insertBlockItem(list *yaml.Node, index int, value *yaml.Node) []splice {
	column := f.column(f.start(list))
	if index < len(list.Content) {
		head, _, ok := f.itemLines(list, index)
		if !ok {
			return nil
		}
		return f.insertLines(head, column, item(value))
	}
	_, tail, ok := f.itemLines(list, index-1)
	if !ok {
		return nil
	}
	return f.insertLines(tail, column, item(value))
}

func (f *File) removeBlockItem(path []string, list *yaml.Node, index int) []splice {
	head, tail, ok := f.itemLines(list, index)
	if !ok {
		return nil
	}
	// Of blank lines on both sides, those below stay.
	if head > 0 && isBlank(f.lineText(head-1)) && (tail == f.count() || isBlank(f.lineText(tail))) {
		head--
	}
	cut := splice{f.lines[head], f.lines[tail], ""}
	if len(list.Content) > 1 {
		return []splice{cut}
	}
	return f.emptyList(path, cut)
}

// emptyList writes brackets behind the key of a list that is cut out.
func (f *File) emptyList(path []string, cut splice) []splice {
	m, i := f.holder(path)
	if m == nil {
		return nil
	}
	colon, ok := f.colon(m.Content[i], 0)
	if !ok {
		return nil
	}
	return []splice{{colon, colon, " []"}, cut}
}

// fillList writes the first item of a list that is empty.
func (f *File) fillList(path []string, list, value *yaml.Node) []splice {
	if m, i := f.holder(path); m != nil && !isFlow(m) && !isInline(value) {
		return f.replaceValue(m, i, List(value))
	}
	at := f.start(list) + 1
	return []splice{{at, at, inline(value)}}
}

// holder is the mapping that holds the value at a path, and where its key is.
func (f *File) holder(path []string) (m *yaml.Node, i int) {
	if len(path) == 0 {
		return nil, 0
	}
	m, err := f.find(path[:len(path)-1])
	if err != nil || m == nil || m.Kind != yaml.MappingNode {
		return nil, 0
	}
	return m, keyIndex(m, path[len(path)-1])
}
