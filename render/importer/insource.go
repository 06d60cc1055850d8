package importer

import (
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/foreign"
)

// inSource says of problems in an environment, which is not written then, where they are
// in the source: in a file that would have been copied, or in a configuration with the
// same line.
func (i *importing) inSource(err error, m *made, origin *foreign.Origin) error {
	var problems, moved diag.List
	problems.AddErr(err)
	for _, p := range problems {
		data, ours := m.files[p.Pos.File]
		if !ours {
			moved.Add(p)
			continue
		}
		q := *p
		q.Pos = i.placeInSource(p, data, origin)
		q.Hint = strings.TrimPrefix(p.Hint+"\nnothing was written: change it in the source, and import again", "\n")
		moved.Add(&q)
	}
	return moved.Err()
}

// placeInSource is where in the source a problem is.
func (i *importing) placeInSource(p *diag.Problem, data []byte, origin *foreign.Origin) diag.Pos {
	for _, c := range origin.Copies {
		if i.path(c.To) == p.Pos.File && string(c.Data) == string(data) {
			return diag.Pos{File: c.From, Line: p.Pos.Line, Column: p.Pos.Column}
		}
	}
	lines := strings.Split(string(data), "\n")
	if p.Pos.Line < 1 || p.Pos.Line > len(lines) {
		return p.Pos
	}
	found := diag.Pos{}
	for _, o := range origin.Machines {
		named := strings.Contains(p.Message, "node "+o.Name+":")
		if line := sameLine(o.Text.Reveal(), lines[p.Pos.Line-1]); line > 0 && (named || found.File == "") {
			found = diag.Pos{File: o.File, Line: line}
		}
	}
	if found.File == "" {
		return p.Pos
	}
	return found
}

// sameLine is the line of a text with the same key and value as another line, or at least
// with the same key; 0 if there is none.
func sameLine(text, line string) (found int) {
	line = strings.TrimSpace(line)
	key, _, _ := strings.Cut(line, ": ")
	for n, l := range strings.Split(text, "\n") {
		l = strings.TrimSpace(l)
		if l == line {
			return n + 1
		}
		if found == 0 && strings.HasPrefix(l, key+":") {
			found = n + 1
		}
	}
	return found
}
