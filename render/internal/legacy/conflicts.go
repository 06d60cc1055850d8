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
	problems := []*diag.Problem{}
	shown := false
	for _, h := range c.hits {
		p := diag.New(diag.Pos{File: file, Line: h.key.Line, Column: h.key.Column}, "%s", c.describe(h))
		if why := refused[p.Pos]; why != nil {
			p.Hint = why.Hint
			delete(refused, p.Pos)
		} else if !shown {
			p.Hint, shown = c.rewritten(), true
		} else {
			p.Hint = c.command()
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
func (c *conversion) describe(h field) string {
	beside := h.home.Conflicts[0]
	for _, kind := range h.home.Conflicts {
		if c.kinds[kind] {
			beside = kind
			break
		}
	}
	verb := "refuses"
	if h.home.Ignored || isDelete(h.value) {
		verb = "ignores"
	}
	switch {
	case beside == Always:
		return fmt.Sprintf("Talos 1.14 moved %s to %s, and %s refuses it", h.path, h.home.Target(), Always)
	case h.home.Kind == "":
		return fmt.Sprintf("Talos 1.14 %s %s beside %s", verb, h.path, beside)
	}
	return fmt.Sprintf("Talos 1.14 moved %s to %s, and %s it beside %s", h.path, h.home.Target(), verb, beside)
}

// rewritten is the hint that shows the converted patch.
func (c *conversion) rewritten() string {
	converted, err := Encode(c.out)
	switch {
	case err != nil || c.opts.HideValues || bytes.Count(converted, []byte("\n")) > maxHintLines:
		return c.command()
	case len(converted) == 0:
		return "remove it: Talos 1.14 does the same without"
	}
	return c.command() + ":\n\n" + string(converted)
}

// command names the command that rewrites the patch, and what it cannot do.
func (c *conversion) command() string {
	hint := "talosgen convert-patch " + c.file + " rewrites the patch for Talos 1.14"
	if docs := c.controlPlaneDocuments(); c.opts.Workers && len(docs) > 0 {
		hint = docs[0].kind + " is for control planes only, and the patch is applied to workers too: " +
			"put such documents into patches/controlplane/\n" + hint
	}
	return hint
}
