package legacy

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
)

// maxHintLines is how long a converted patch may be to be printed in a hint.
const maxHintLines = 60

// Conflicts reports the legacy fields of a patch, given as its parsed
// documents, that Talos 1.14 refuses or ignores beside the documents that the
// patch meets. Each problem is at the field's place and names the document that
// took the field over; the hint of the first prints the whole patch rewritten,
// if it is small and its values may be shown.
//
// It is meant for the contract 1.14 and later. Older contracts have no such
// documents, and nothing conflicts.
func Conflicts(file string, docs []*yaml.Node, opts Options) []*diag.Problem {
	opts.All = false
	c := run(file, docs, opts)
	if len(c.hits) == 0 {
		return c.problems
	}
	refused := map[diag.Pos]*diag.Problem{}
	for _, p := range c.problems {
		refused[p.Pos] = p
	}
	var problems []*diag.Problem
	shown := false
	for _, h := range c.hits {
		p := diag.New(diag.Pos{File: file, Line: h.key.Line, Column: h.key.Column}, "%s", c.describe(h.field))
		switch why := refused[p.Pos]; {
		case why != nil:
			p.Hint = why.Hint
			delete(refused, p.Pos)
		case !h.converted:
			p.Hint = "none of its parts can be converted; each is reported"
		case shown:
			p.Hint = c.command(h.field)
		default:
			p.Hint, shown = c.rewritten(h.field), true
		}
		problems = append(problems, p)
	}
	for _, p := range c.problems {
		if refused[p.Pos] == p {
			problems = append(problems, p)
		}
	}
	return problems
}

// describe says what happened to a field.
func (c *conversion) describe(f field) string {
	beside := f.home.Conflicts[0]
	for _, kind := range f.home.Conflicts {
		if c.kinds[kind] {
			beside = kind
			break
		}
	}
	verb := "refuses"
	if f.home.Ignored {
		verb = "ignores"
	}
	switch {
	case f.home.Kind == "":
		return fmt.Sprintf("Talos 1.14 refuses %s beside %s", f.path, beside)
	case isDelete(f.value):
		return fmt.Sprintf("Talos 1.14 moved %s to %s, and a deletion must be made there", f.path, f.home.Target())
	case beside == Always:
		return fmt.Sprintf("Talos 1.14 moved %s to %s, and %s refuses it", f.path, f.home.Target(), Always)
	}
	return fmt.Sprintf("Talos 1.14 moved %s to %s, and %s it beside %s", f.path, f.home.Target(), verb, beside)
}

// rewritten is the hint that shows the converted patch.
func (c *conversion) rewritten(f field) string {
	converted, err := Encode(c.out)
	switch {
	case err != nil || c.opts.HideValues || bytes.Count(converted, []byte("\n")) > maxHintLines:
		return c.command(f)
	case len(converted) == 0:
		return "remove it: Talos 1.14 does the same without"
	}
	return c.command(f) + ":\n\n" + string(converted)
}

// command names the command that rewrites the patch, and what it cannot do.
func (c *conversion) command(f field) string {
	hint := "talosgen convert-patch " + c.file + " rewrites the patch for Talos 1.14"
	if len(c.problems) > 0 {
		hint += ", but for what is reported"
	}
	if c.opts.Workers && ControlPlaneOnly(f.home.Kind) {
		hint = f.home.Kind + " is for control planes only, and the patch is applied to workers too: " +
			"put it into a patch for control planes (patches/controlplane/)\n" + hint
	}
	return hint
}
