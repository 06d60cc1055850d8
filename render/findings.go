package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
)

// findings gathers what validation says of nodes, so that what is true of a
// thousand nodes is said once.
type findings struct {
	env   string
	order []finding
	nodes map[finding][]string
}

// finding is what was found, and where in the sources that was set.
type finding struct {
	text    string
	warning bool
	pos     diag.Pos // zero if it is not known, or could be several
	maybe   string   // those several places, for people
}

func newFindings(env string) *findings {
	return &findings{env: env, nodes: map[finding][]string{}}
}

func (f *findings) add(node string, key finding) {
	if len(f.nodes[key]) == 0 {
		f.order = append(f.order, key)
	}
	if !slices.Contains(f.nodes[key], node) {
		f.nodes[key] = append(f.nodes[key], node)
	}
}

// says reports whether a text is among the findings, and returns the first
// that has it.
func (f *findings) says(text string, warning bool) (finding, bool) {
	i := slices.IndexFunc(f.order, func(key finding) bool { return key.text == text && key.warning == warning })
	if i < 0 {
		return finding{}, false
	}
	return f.order[i], true
}

func (f *findings) problems() diag.List { return f.list(false) }
func (f *findings) warnings() diag.List { return f.list(true) }

func (f *findings) list(warning bool) diag.List {
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
		case key.maybe != "":
			p.WithHint("look at %s", key.maybe)
		case !warning:
			p.WithHint("`talosgen explain %s %s <path>` shows which layer set a value", f.env, nodes[0])
		}
		list.Add(p)
	}
	return list
}

// report adds what is found of one node, with the places in the sources that it
// is about.
type report struct {
	*compiler
	node    model.Node
	found   *findings
	secrets []secret.String // of the configuration, as soon as a text may hold one

	traced []machine.Traced // of the node, once it was asked for
	asked  bool
}

// add adds a text. The places of a warning are looked for once: most renders
// that warn go well, and are to stay fast.
func (r *report) add(text string, warning bool) {
	shown := secret.Hide(text, r.secrets, r.Repo.World.Masker.Readable())
	key := finding{text: shown, warning: warning}
	if known, ok := r.found.says(shown, warning); ok && warning {
		r.found.add(r.node.Name, known)
		return
	}
	if !r.asked {
		r.asked = true
		// Without the places, which are only a help, the text is said all the same.
		r.traced, _ = r.trace(r.node)
	}
	places := machine.Blame(text, r.traced)
	if len(places) == 1 {
		key.pos = places[0]
	}
	if len(places) > 1 {
		all := make([]string, len(places))
		for i, p := range places {
			all[i] = p.String()
		}
		last := len(all) - 1
		key.maybe = strings.Join(all[:last], ", ") + " and " + all[last]
	}
	r.found.add(r.node.Name, key)
}
