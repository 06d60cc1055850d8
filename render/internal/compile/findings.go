package compile

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
)

// Findings gathers what validation says of nodes, so that what is true of a
// thousand nodes is said once.
type Findings struct {
	env   string
	order []finding
	nodes map[finding][]string
}

// finding is what was found, and where in the sources that was set.
type finding struct {
	text    string
	warning bool
	hint    string   // what to do, if there is more than to look at the place
	pos     diag.Pos // zero if it is not known, or could be several
	maybe   string   // those several places, for people
}

// NewFindings returns findings of an environment, without any.
func NewFindings(env string) *Findings {
	return &Findings{env: env, nodes: map[finding][]string{}}
}

func (f *Findings) add(node string, key finding) {
	if len(f.nodes[key]) == 0 {
		f.order = append(f.order, key)
	}
	if !slices.Contains(f.nodes[key], node) {
		f.nodes[key] = append(f.nodes[key], node)
	}
}

// about reports whether there are findings of a node.
func (f *Findings) about(node string) bool {
	for _, nodes := range f.nodes {
		if slices.Contains(nodes, node) {
			return true
		}
	}
	return false
}

// says reports whether a text is among the findings, and returns the first
// that has it.
func (f *Findings) says(text string, warning bool) (finding, bool) {
	i := slices.IndexFunc(f.order, func(key finding) bool { return key.text == text && key.warning == warning })
	if i < 0 {
		return finding{}, false
	}
	return f.order[i], true
}

// Problems returns what no configuration may have.
func (f *Findings) Problems() diag.List { return f.list(false) }

// Warnings returns what a configuration may have, and rarely should.
func (f *Findings) Warnings() diag.List { return f.list(true) }

func (f *Findings) list(warning bool) diag.List {
	var list diag.List
	for _, key := range f.order {
		if key.warning != warning {
			continue
		}
		nodes := f.nodes[key]
		object := "node " + nodes[0]
		if len(nodes) > 1 {
			object += fmt.Sprintf(" and %d more", len(nodes)-1)
		}
		p := diag.On(object, "%s", key.text)
		switch {
		case key.pos.Line > 0:
			p = diag.New(key.pos, "%s: %s", object, key.text)
			if key.hint != "" {
				p.WithHint("%s", key.hint)
			}
		case key.maybe != "":
			p.WithHint("look at %s", key.maybe)
		case !warning:
			p.WithHint("`talosgen explain %s %s <path>` shows which layer set a value", f.env, nodes[0])
		}
		list.Add(p)
	}
	return list
}
