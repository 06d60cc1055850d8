package upgrade

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/internal/versions"
)

// follows reports whether a node gets with a phase what Git starts programs with: it is
// meant for the version that Git has, and stands elsewhere in another contract.
func (n pair) follows(p phase) bool {
	return !n.Autoscaled && Same(p.kubernetes, n.want.Kubernetes) && !older(n.Contract, n.want.Contract)
}

// arguments are R10: flags, feature gates and admission plugins that a version of
// Kubernetes does not know, and that programs are started with after a phase.
func (f refuser) arguments(p phase) (notes []Note) {
	for _, n := range f.pairs {
		sets := n.Sets
		if n.follows(p) {
			sets = n.want.Sets
		}
		programs := p.gets(n)
		for _, s := range sets {
			if fault := s.Fault(versions.Minor(p.kubernetes)); fault != "" && n.Reached && slices.Contains(programs, s.Program) {
				notes = append(notes, Note{ID: "R10", Node: n.Name, Text: fmt.Sprintf("%s: %s", s.Path, fault), Hint: "remove it in Git, and run talosgen apply first"})
			}
		}
	}
	return notes
}
