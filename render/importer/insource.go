package importer

import (
	"errors"
	"regexp"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/fit"
	"github.com/talosgen/talosgen/render/internal/foreign"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// inSource says of problems in an environment, which is not written then, where they are
// in the source: in a file that would have been copied, in a configuration with the same
// line, or in that of a node.
func (i *importing) inSource(err error, files map[string][]byte, origin *foreign.Origin) error {
	var problems, moved diag.List
	problems.AddErr(err)
	for _, p := range problems {
		q := *p
		var undefined *subst.Undefined
		switch data, ours := files[p.Pos.File]; {
		case !ours && errors.As(p, &undefined):
			q.Message += ": a file that all environments share uses it"
			q.Hint = i.sharedHint(undefined.Name)
		case p.Code == diag.Secrets: // a key is missing, and the source has none
		case ours:
			q.Pos = i.placeInSource(p, data, origin)
			if q.Hint != "" && !strings.Contains(q.Hint, p.Pos.File) { // that is not there
				q.Hint += "\n" + inSourceHint
			} else {
				q.Hint = inSourceHint
			}
		case p.Pos.File == "" && fileOf(p.Object, origin) != "":
			q.Pos, q.Hint = diag.Pos{File: fileOf(p.Object, origin)}, inSourceHint // what explains values is not there
		}
		moved.Add(&q)
	}
	return moved.Err()
}

// tried are the files of an environment that could not be rendered; nil if it was not for
// them that it failed.
func (i *importing) tried(err error) map[string][]byte {
	var refused *fit.Refused
	if !errors.As(err, &refused) {
		return nil
	}
	files := map[string][]byte{}
	for name, data := range refused.Files {
		files[i.path(name)] = data
	}
	return files
}

// sharedHint says what to do about a variable in a shared file that the new environment does
// not have: it has no cluster.env yet in which to define it.
func (i *importing) sharedHint(name string) string {
	return "nothing was written, so there is no " + i.path("cluster.env") + " yet to define it in: either\n" +
		"write ${" + name + ":-…} there, with a value that fits these machines; or\n" +
		"move the file below envs/<env>/patches of the environments that define " + name + ";\n" +
		"then run the command again"
}

const inSourceHint = "nothing was written: change it in the source, and import again"

// fileOf is the configuration of the node that a problem is on: the first, of several.
// Empty if it is on something else.
func fileOf(object string, origin *foreign.Origin) string {
	for _, o := range origin.Machines {
		if object == "node "+o.Name || strings.HasPrefix(object, "node "+o.Name+" and ") {
			return o.File
		}
	}
	return ""
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
	for _, o := range origin.Machines { // a problem of one node is in its configuration
		if strings.Contains(p.Message, "node "+o.Name+":") {
			return diag.Pos{File: o.File, Line: sameLine(o.Text.Reveal(), entryAt(lines[p.Pos.Line-1], p.Pos.Column))}
		}
	}
	for _, o := range origin.Machines {
		if line := sameLine(o.Text.Reveal(), entryAt(lines[p.Pos.Line-1], p.Pos.Column)); line > 0 {
			return diag.Pos{File: o.File, Line: line}
		}
	}
	return p.Pos
}

// inFlow is a key of a mapping that is written in one line, with its value.
var inFlow = regexp.MustCompile(`[{,] *([^{},:][^{},]*?: [^{},]*)`)

// entryAt is the key and value in a line; of several in one line those before a column.
func entryAt(line string, column int) string {
	entry := line
	for _, at := range inFlow.FindAllStringSubmatchIndex(line, -1) {
		if at[2] < column {
			entry = line[at[2]:at[3]]
		}
	}
	return entry
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
