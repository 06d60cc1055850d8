// Package toolrepo makes a repository of another program of an environment: its options,
// its patches in the same layers, and patches for what is left, so that the program makes
// the same machine configurations. It is pure.
package toolrepo

import (
	"cmp"
	"errors"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
	"github.com/talosgen/talosgen/schemas"
)

// Input is what a repository is made of.
type Input struct {
	Cluster Cluster
	Nodes   []Node
	Groups  []string // of servers that the autoscaler makes, which no program has
	Bundle  *machine.Bundle
	// Secrets are the values that may stand in encrypted files only.
	Secrets []secret.String
	// Readable reports whether a value stands in the clear in the environment.
	Readable func(string) bool
}

// Cluster is what all nodes share.
type Cluster struct {
	Name, Endpoint              string
	Talos, Contract, Kubernetes string
	Factory                     string // the Image Factory
	PodCidrs, ServiceCidrs      []string
	Domain                      string
	AllowScheduling             bool
}

// Node is a node with its final configuration.
type Node struct {
	Name, Role, Pool, Address, InstallDisk string
	DiskSelector                           schemas.DiskSelector // if InstallDisk is empty
	Platform                               string               // of Talos
	SecureBoot                             bool
	Extensions, KernelArgs                 []string
	Schematic                              machine.Schematic
	Config                                 *machine.Config
	// Options is the configuration without patches.
	Options *machine.Config
	Patches []Patch // in the order in which they apply
}

// Patch is a patch of an environment, in the clear.
type Patch struct {
	File  string
	Layer residue.Layer
	Data  []byte
	// Secret says that it is encrypted, or that variables in it are secret.
	Secret bool
	// Own says that it has other values for each node.
	Own bool
	// Why says why it cannot be taken over as it is; empty if it can.
	Why string
}

// File is a file of the repository.
type File struct {
	Data   []byte
	Secret bool // it has to be encrypted as a whole
}

// Repository is what was made.
type Repository struct {
	Files map[string]File
	Notes []string
}

// Make makes a repository that leads to the configurations of all nodes. A difference
// that stays is a problem.
func Make(in Input, t Tool) (*Repository, error) {
	if err := t.check(in.Cluster); err != nil {
		return nil, err
	}
	b := &builder{Input: in, tool: t}
	b.options()
	if err := b.copies(); err != nil {
		return nil, err
	}
	if err := b.rest(); err != nil {
		return nil, err
	}
	files, notes, err := t.files(b)
	if err != nil {
		return nil, err
	}
	return &Repository{Files: files, Notes: append(b.notes, notes...)}, b.checkReadable(files)
}

// builder makes a repository.
type builder struct {
	Input
	tool   Tool
	pieces []piece
	notes  []string
}

// options makes patches of what the options of cluster.yaml lead to, and the program does
// not by itself. What is wrong with them, the rest puts right.
func (b *builder) options() {
	if slices.ContainsFunc(b.Nodes, func(n Node) bool { return n.Options == nil }) {
		return
	}
	nodes, err := b.compare(func(n Node) *machine.Config { return n.Options })
	if err != nil {
		return
	}
	before := b.pieces
	b.pieces = b.written(optionsStage, residue.Factor(nodes, residue.Exact()))
	if _, err := b.compare(target); err != nil {
		b.pieces = before
	}
}

// target is the configuration that a node has to have.
func target(n Node) *machine.Config { return n.Config }

// rounds is how often patches are tried: a merge has its own ideas of some values.
const rounds = 12

// rest makes patches of what is left.
func (b *builder) rest() error {
	base := b.pieces
	nodes, err := b.compare(target)
	if err != nil {
		return err
	}
	hints := residue.Exact()
	for range rounds {
		b.pieces = append(slices.Clip(base), b.written(restStage, residue.Factor(nodes, hints))...)
		made, err := b.compare(target)
		if err != nil {
			return err
		}
		if !different(made) {
			return nil
		}
		next, learned := hints.Learn(made)
		if !learned {
			return b.stuck(made)
		}
		hints = next
	}
	return errors.New("patches that lead to the configurations were not found")
}

func different(nodes []residue.Node) bool {
	return slices.ContainsFunc(nodes, func(n residue.Node) bool { return len(n.Differences()) > 0 })
}

// stuck names what no patch brings about.
func (b *builder) stuck(nodes []residue.Node) error {
	var problems diag.List
	for i := range nodes {
		for _, c := range nodes[i].Differences() {
			problems.Add(diag.On("node "+nodes[i].Name, "%s has no way into a repository of %s", c.Place, b.tool.name()).
				WithHint("no patch leads to this value there; `talosgen export --to plain` writes the configurations as they are"))
		}
	}
	return problems.Err()
}

// byOrder sorts the pieces of a node as the program applies them.
func (b *builder) byOrder(pieces []piece) {
	sorting.By(pieces, func(x, y piece) int {
		return cmp.Or(
			cmp.Compare(b.tool.level(x.layer), b.tool.level(y.layer)), cmp.Compare(x.stage, y.stage),
			cmp.Compare(x.rank, y.rank), cmp.Compare(x.seq, y.seq),
		)
	})
}
