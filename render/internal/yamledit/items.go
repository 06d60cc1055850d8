package yamledit

import (
	"bytes"

	"go.yaml.in/yaml/v4"
)

// dash is the offset of the dash of an item.
func (f extents) dash(list *yaml.Node, index int) (int, bool) {
	first := f.start(list)
	column := f.column(first)
	from := f.line(first)
	if index > 0 {
		from = f.line(f.itemEnd(list, index-1)-1) + 1
	}
	for line := from; line < f.count() && line < max(list.Content[index].Line, from+1); line++ {
		text := f.lineText(line)
		if indentation(text) == column && len(text) > column && text[column] == '-' {
			return f.lines[line] + column, true
		}
	}
	return 0, false
}

// itemEnd is the offset behind an item of a list in lines.
func (f extents) itemEnd(list *yaml.Node, index int) int {
	return max(f.end(list.Content[index], f.column(f.start(list))+1), f.start(list)+1)
}

// itemLines is the first line of an item, with the comments directly above it,
// and the line behind its last one, with the comments inside of it.
func (f extents) itemLines(list *yaml.Node, index int) (head, tail int, ok bool) {
	dash, ok := f.dash(list, index)
	if !ok {
		return 0, 0, false
	}
	head = f.line(dash)
	for head > 0 && isComment(f.lineText(head-1)) && (index == 0 || head > f.line(f.itemEnd(list, index-1)-1)+1) {
		if index > 0 && indentation(f.lineText(head-1)) > f.column(dash) {
			break // inside of the item above
		}
		head--
	}
	last := f.line(max(f.itemEnd(list, index), dash+1) - 1)
	return head, f.commentsInside(last+1, f.column(dash)), true
}

// alone tells whether an item of a list in brackets has its lines for itself.
func (f extents) alone(n *yaml.Node) bool {
	from, end := f.offset(n), f.end(n, 0)
	before := f.text[f.lines[f.line(from)]:from]
	behind, _ := f.comma(end)
	rest := f.lineText(f.line(max(end-1, 0)))
	rest = rest[min(f.column(max(end-1, 0))+1+behind-end, len(rest)):]
	return len(bytes.TrimSpace(before)) == 0 && (isBlank(rest) || isComment(rest))
}
