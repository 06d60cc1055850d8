package toolrepo

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/residue"
)

// Stages of patches, in order: what cluster.yaml says, the patches of the environment,
// and what is left.
const (
	optionsStage = iota
	copiesStage
	restStage
)

// stageNames are the names of files of patches that were written here.
var stageNames = map[int]string{optionsStage: "options", restStage: "rest"}

// stageNumbers begin the numbers that names of files begin with.
var stageNumbers = map[int]int{optionsStage: 0, copiesStage: 100, restStage: 900}

// piece is a patch of the repository.
type piece struct {
	layer residue.Layer
	stage int
	rank  int // of the layer, where that is not the level's
	seq   int
	label string // of its file
	text  []byte
	// secret says that the file has to be encrypted.
	secret bool
}

// of reports whether a patch is for a node.
func (p piece) of(n Node) bool {
	return slices.Contains([]residue.Layer{residue.Common, residue.Layer(n.Role), poolLayer(n.Pool), nodeLayer(n.Name)}, p.layer)
}

func poolLayer(pool string) residue.Layer { return residue.Layer("pools/" + pool) }
func nodeLayer(node string) residue.Layer { return residue.Layer("nodes/" + node) }

// rankOf orders layers: all, role, pool, node.
func rankOf(l residue.Layer) int {
	switch {
	case l == residue.Common:
		return 0
	case strings.HasPrefix(string(l), "pools/"):
		return 2
	case strings.HasPrefix(string(l), "nodes/"):
		return 3
	}
	return 1
}

// written writes changes as patches of Talos' own: what is removed first, in a patch for
// itself, then what is set; what is secret apart.
func (b *builder) written(stage int, layers map[residue.Layer][]residue.Change) (pieces []piece) {
	for l, changes := range layers {
		var removed, set []residue.Change
		hidden := map[machine.ID][]residue.Change{}
		var order []machine.ID
		for _, c := range changes {
			if c.Value == nil || c.Whole {
				gone := c
				gone.Value, gone.Whole = deletion(), false
				removed = append(removed, gone)
			}
			if c.Value == nil {
				continue
			}
			c.Whole = false
			if !b.hides(c.Value) {
				set = append(set, c)
				continue
			}
			if hidden[c.ID] == nil {
				order = append(order, c.ID)
			}
			hidden[c.ID] = append(hidden[c.ID], c)
		}
		add := func(what string, changes []residue.Change, secret bool) {
			if len(changes) == 0 {
				return
			}
			text, err := residue.Write(changes, comment(stage, what))
			if err != nil {
				panic("a patch of scalars, lists and mappings cannot be encoded: " + err.Error())
			}
			pieces = append(pieces, piece{layer: l, stage: stage, rank: rankOf(l), seq: len(pieces), label: stageNames[stage] + what, text: text, secret: secret})
		}
		add("-removed", removed, false)
		add("", set, false)
		for _, id := range order {
			add("-secret-"+fileName(id), hidden[id], true)
		}
	}
	return pieces
}

// comment says what a patch is for.
func comment(stage int, what string) string {
	text := "What cluster.yaml said, in the repository that this was made of."
	if stage == restStage {
		text = "What comes of directives and of the order of patches there."
	}
	if what == "-removed" {
		text += "\nWhat is removed here was not there, or is set in the next file."
	}
	return text
}

// deletion is Talos' own way to remove something.
func deletion() *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{
		{Kind: yaml.ScalarNode, Tag: "!!str", Value: "$patch"}, {Kind: yaml.ScalarNode, Tag: "!!str", Value: "delete"},
	}}
}

// fileName is the name of a document as a part of the name of a file.
func fileName(id machine.ID) string {
	if id.IsMain() {
		return "machine"
	}
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(id.Kind+"-"+id.Name)), "-")
}

// placed is a file in a directory.
type placed struct {
	path string
	piece
}

// place gives pieces that share a directory names, in the order in which they apply.
func place(dir string, pieces []piece) (all []placed) {
	next := map[int]int{}
	for _, p := range pieces {
		number := stageNumbers[p.stage] + next[p.stage]
		next[p.stage]++
		ending := ".yaml"
		if p.secret {
			ending = ".sops.yaml"
		}
		stem := strings.TrimSuffix(strings.TrimSuffix(path.Base(p.label), ".yaml"), ".sops")
		all = append(all, placed{path.Join(dir, fmt.Sprintf("%03d-%s%s", number, stem, ending)), p})
	}
	return all
}
