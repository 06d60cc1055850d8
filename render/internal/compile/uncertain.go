package compile

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/cleartext"
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/placeholder"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// Without keys, placeholders stand where secrets belong. Talos may refuse a
// placeholder (it is no address, no duration) where it would take the secret.
// So a problem counts only if it is there without the values in question too;
// otherwise it is a warning.

const notCertain = "not certain without keys: "

// loadKeyless loads a patch that may hold placeholders. Where these cannot
// stand, the patch is loaded without them, so that the rest of it is checked.
func (p *patches) loadKeyless(src machine.Source, o machine.LoadOptions) (*machine.Patch, error) {
	patch, err := machine.LoadPatch(src, o)
	if !p.texts.NeedsSecrets(src.Data, src.Encrypted) {
		return patch, err
	}
	p.uncertain[src.File] = true
	if err == nil {
		return patch, nil
	}
	inspect := o.Inspect
	o.Inspect = func(docs []*yaml.Node) error {
		for _, doc := range docs {
			pruner{o.Scope}.prune(doc, true)
		}
		if inspect == nil {
			return nil
		}
		return inspect(docs)
	}
	patch, without := machine.LoadPatch(src, o)
	if without != nil {
		return nil, without
	}
	patch.Warnings = nil
	p.incomplete = true
	p.warnings.Add(cleartext.NotInFull(src.File).WithCause(err))
	return patch, nil
}

// pruner takes out of a patch what placeholders stand for.
type pruner struct{ scope *subst.Scope }

// prune removes the values that placeholders stand for, and what is empty
// without them. What identifies a document stays.
func (p pruner) prune(n *yaml.Node, root bool) {
	kept := n.Content[:0:0]
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			identity := root && slices.Contains([]string{"apiVersion", "kind", "name"}, n.Content[i].Value)
			if identity || !p.pruned(n.Content[i+1]) {
				kept = append(kept, n.Content[i], n.Content[i+1])
			}
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if !p.pruned(item) {
				kept = append(kept, item)
			}
		}
	default:
		return
	}
	n.Content = kept
}

// pruned prunes a value, and tells whether nothing is left of it. A value with
// references that are wrong stays, to be reported.
func (p pruner) pruned(n *yaml.Node) bool {
	switch n.Kind {
	case yaml.ScalarNode:
		_, _, secret, err := subst.Expand(n.Value, p.scope)
		return n.Value == placeholder.Text || secret && err == nil
	case yaml.AliasNode:
		return p.pruned(n.Alias)
	}
	before := len(n.Content)
	p.prune(n, false)
	return before > 0 && len(n.Content) == 0
}

// trial composes and validates the configuration of a node with placeholders.
type trial struct {
	*Compiler
	node model.Node
}

// check adds to found what validation says. Problems that are not there without the
// patches which hold placeholders are warnings.
func (t trial) check(found *Findings) error {
	if _, err := t.layersOf(t.node, noFile); err != nil {
		return err // wrong with and without secrets
	}
	all, err := t.without(noFile)
	if err == nil && len(all.Problems()) == 0 {
		found.take(all)
		return nil
	}
	sure, sureErr := t.without(t.patches.isUncertain)
	if err != nil {
		all = sure // validation had no turn
	}
	found.take(all.unlike(sure, !t.incomplete()))
	return t.certain(listOf(err), listOf(sureErr))
}

// certain returns the problems that count, and makes warnings of the others.
func (t trial) certain(all, sure diag.List) error {
	var problems diag.List
	for _, p := range all {
		if slices.ContainsFunc(sure, func(q *diag.Problem) bool { return p.Error() == q.Error() }) || len(t.patches.uncertain) == 0 {
			problems.Add(p)
			continue
		}
		warning := *p
		warning.Message = notCertain + p.Message
		t.warnings.Add(&warning)
	}
	return problems.Err()
}

// incomplete reports whether parts of a patch were left out.
func (t trial) incomplete() bool { return t.patches.incomplete || t.in.Texts.Incomplete() }

// without composes and validates the configuration without some patches.
func (t trial) without(skip func(file string) bool) (*Findings, error) {
	found := NewFindings(t.model.Env)
	cfg, err := t.composeWithout(t.node, skip)
	if err != nil {
		return found, err
	}
	return found, t.validate(&report{compiler: t.Compiler, node: t.node, found: found, skip: skip}, cfg)
}

// isUncertain reports whether a patch holds placeholders.
func (p *patches) isUncertain(file string) bool { return p.uncertain[file] }

// take adds findings to others.
func (f *Findings) take(all *Findings) {
	for _, key := range all.order {
		for _, node := range all.nodes[key] {
			f.add(node, key)
		}
	}
}

// unlike turns problems that are not among the certain ones into warnings. They
// say nothing, and are dropped, if they may come of values that were left out.
func (f *Findings) unlike(certain *Findings, keep bool) *Findings {
	out := NewFindings(f.env)
	for _, key := range f.order {
		said := key
		if _, sure := certain.says(key.text, false); !key.warning && !sure {
			if !keep {
				continue
			}
			said.warning, said.text = true, notCertain+key.text
		}
		for _, node := range f.nodes[key] {
			out.add(node, said)
		}
	}
	return out
}

// listOf takes an error apart.
func listOf(err error) diag.List {
	var list diag.List
	list.AddErr(err)
	return list
}
