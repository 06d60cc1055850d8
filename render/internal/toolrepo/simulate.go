package toolrepo

import (
	"errors"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
)

// compare makes the configuration of each node as the program does, beside the one that
// it has to have.
func (b *builder) compare(want func(Node) *machine.Config) ([]residue.Node, error) {
	var nodes []residue.Node
	for _, n := range b.Nodes {
		text, err := b.simulate(n)
		if err != nil {
			return nil, err
		}
		made, err := machine.ReadConfig(b.tool.name()+" "+n.Name, text)
		if err != nil {
			return nil, err
		}
		node := residue.Node{Name: n.Name, Role: n.Role, Pool: n.Pool}
		if node.Have, err = residue.Documents(made); err != nil {
			return nil, err
		}
		if node.Want, err = residue.Documents(want(n)); err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// simulate is the configuration that the program makes for a node.
func (b *builder) simulate(n Node) ([]byte, error) {
	config, patches, err := b.tool.base(b, n)
	if err != nil {
		return nil, err
	}
	for _, p := range b.piecesOf(n) {
		patches = append(patches, machine.Source{File: p.label, Data: p.text})
	}
	return config.Make(machine.Role(n.Role), b.Bundle, patches)
}

// piecesOf are the patches of a node, in order.
func (b *builder) piecesOf(n Node) []piece {
	own := slices.DeleteFunc(slices.Clone(b.pieces), func(p piece) bool { return !p.of(n) })
	b.byOrder(own)
	return own
}

// copies takes over the patches of the environment that can stand as they are. One that
// the program refuses is left out.
func (b *builder) copies() error {
	b.pieces = append(b.pieces, b.copied()...)
	for {
		_, err := b.compare(target)
		if err == nil {
			return nil
		}
		at := slices.IndexFunc(b.pieces, func(p piece) bool { return p.stage == copiesStage && refused(err, p.label) })
		if at < 0 {
			return err
		}
		b.leave(b.pieces[at].label, "it is nothing that Talos merges by itself")
		b.pieces = slices.Delete(b.pieces, at, at+1)
	}
}

// refused reports whether a problem is about a file.
func refused(err error, file string) bool {
	var p *diag.Problem
	var list diag.List
	switch {
	case errors.As(err, &list):
		return slices.ContainsFunc(list, func(p *diag.Problem) bool { return p.Pos.File == file })
	case errors.As(err, &p):
		return p.Pos.File == file
	}
	return false
}

// leave notes that a patch was not taken over as it is.
func (b *builder) leave(file, why string) {
	note := file + " was not copied: " + why + "; what it does is in the other patches"
	if !slices.Contains(b.notes, note) {
		b.notes = append(b.notes, note)
	}
}

// copied are the patches that can be taken over.
func (b *builder) copied() (pieces []piece) {
	type key struct {
		layer residue.Layer
		file  string
	}
	done := map[key]bool{}
	for _, n := range b.Nodes {
		for i, p := range n.Patches {
			k := key{p.Layer, p.File}
			if p.Own {
				k.layer = nodeLayer(n.Name)
			}
			switch why := b.unfit(p); {
			case done[k]:
			case why != "":
				b.leave(p.File, why)
			default:
				pieces = append(pieces, piece{layer: k.layer, stage: copiesStage, seq: i, label: p.File, text: p.Data, secret: p.Secret})
			}
			done[k] = true
		}
	}
	return pieces
}

// unfit says why a patch cannot be taken over; empty if it can.
func (b *builder) unfit(p Patch) string {
	if p.Why != "" {
		return p.Why
	}
	return b.tool.unfit(p.Data)
}
