package upgrade

import (
	"fmt"
	"slices"
	"strings"
)

// String prints the plan for people, or that there is nothing to do.
func (p *Plan) String() string {
	lines := p.Lines()
	if p.Empty() && len(p.Refusals) == 0 {
		lines = append(lines, fmt.Sprintf("%s, %s: nothing to do", p.Cluster, p.what()))
	}
	return strings.Join(lines, "\n") + "\n"
}

// what is planned, in a word.
func (p *Plan) what() string {
	if p.Rollback {
		return "rollback"
	}
	return "upgrade"
}

// Lines print the plan: each hop with what is done in it, in its order, then risks,
// refusals, and what is left.
func (p *Plan) Lines() (lines []string) {
	for _, b := range p.blocks() {
		lines = append(lines, b.title)
		for _, r := range b.rows {
			lines = append(lines, fmt.Sprintf("  %-26s %s", r.what, r.where()))
		}
	}
	lines = append(lines, section("risks:", p.Risks, func(r Risk) string { return r.line() })...)
	lines = append(lines, section("refused:", p.Refusals, Note.line)...)
	return append(lines, section("stays:", p.Left, Note.line)...)
}

// section is a title and a line for each thing; nothing without things.
func section[T any](title string, things []T, line func(T) string) (lines []string) {
	for _, t := range things {
		if len(lines) == 0 {
			lines = append(lines, title)
		}
		lines = append(lines, "  "+line(t))
	}
	return lines
}

func (r Risk) line() string {
	if r.Agreed {
		return fmt.Sprintf("%s  %s (agreed)", r.ID, r.Text)
	}
	return fmt.Sprintf("%s  %s   --allow %s", r.ID, r.Text, r.ID)
}

func (n Note) line() string {
	text := n.Text
	if n.Node != "" {
		text = n.Node + ": " + text
	}
	if n.ID != "" {
		text = n.ID + "  " + text
	}
	if n.Hint != "" {
		text += "; " + n.Hint
	}
	return text
}

// block is a hop in print, row what is done at some nodes.
type block struct {
	title string
	rows  []row
}

type row struct {
	what  string
	nodes []string
}

// shown are the actions that are printed: others come with them.
var shown = []Action{Pull, Snapshot, Install, Rollback, Configure, Manifests, Contract, Delete}

// blocks gather steps by hop and by what they do.
func (p *Plan) blocks() (all []block) {
	for _, s := range p.Steps {
		if !slices.Contains(shown, s.Action) {
			continue
		}
		if len(all) == 0 || s.Hop != "" && all[len(all)-1].title != s.Hop {
			all = append(all, block{title: s.Hop})
		}
		all[len(all)-1].add(s)
	}
	return all
}

func (b *block) add(s Step) {
	what := string(s.Action)
	switch {
	case s.Action == Configure:
		what = s.Component
	case s.Action == Install:
		what = "drain, install, boot"
	case s.Action == Delete:
		what = "drain, delete server"
	case s.Action == Rollback:
		what = "drain, roll back"
	}
	i := slices.IndexFunc(b.rows, func(r row) bool { return r.what == what })
	if i < 0 {
		b.rows, i = append(b.rows, row{what: what}), len(b.rows)
	}
	if !slices.Contains(b.rows[i].nodes, s.Node) {
		b.rows[i].nodes = append(b.rows[i].nodes, s.Node)
	}
}

// where names nodes in their order; many that are alike only count.
func (r row) where() string {
	if r.what == string(Pull) && len(r.nodes) > 1 {
		return fmt.Sprintf("%d nodes", len(r.nodes))
	}
	return strings.Join(r.nodes, ", ")
}
