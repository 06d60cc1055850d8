package render

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
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
func (c *compiler) loadKeyless(src machine.Source, o machine.LoadOptions) (*machine.Patch, error) {
	p, err := machine.LoadPatch(src, o)
	if !c.needsSecrets(src.Data, src.Encrypted) {
		return p, err
	}
	c.uncertain[src.File] = true
	if err == nil {
		return p, nil
	}
	inspect := o.Inspect
	o.Inspect = func(docs []*yaml.Node) error {
		for _, doc := range docs {
			pruner{c, o.Scope}.prune(doc, true)
		}
		if inspect == nil {
			return nil
		}
		return inspect(docs)
	}
	p, without := machine.LoadPatch(src, o)
	if without != nil {
		return nil, without
	}
	p.Warnings = nil
	c.incomplete = true
	c.warnings.Add(notInFull(src.File).WithCause(err))
	return p, nil
}

// placeholdersIn puts placeholders into an encrypted patch.
func (c *compiler) placeholdersIn(file string, encrypted []byte) ([]byte, error) {
	plain, complete, err := placeholder.Fill(file, encrypted)
	if err == nil && !complete {
		c.incomplete = true
		c.warnings.Add(notInFull(file))
	}
	return plain, err
}

func notInFull(file string) *diag.Problem {
	return diag.New(diag.Pos{File: file}, "not checked in full: without keys its secret values are not known")
}

// pruner takes out of a patch what placeholders stand for.
type pruner struct {
	*compiler
	scope *subst.Scope
}

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
		_, _, secret, err := subst.Expand(n.Value, p.Scope)
		return n.Value == placeholder.Text || secret && err == nil
	case yaml.AliasNode:
		return p.pruned(n.Alias)
	}
	before := len(n.Content)
	p.prune(n, false)
	return before > 0 && len(n.Content) == 0
}

// refersToSecret reports whether a text refers to a secret variable.
func (c *compiler) refersToSecret(text string) bool {
	for name := range c.secrets.Variables {
		if strings.Contains(text, "${"+name) {
			return true
		}
	}
	return false
}

// validateKeyless composes and validates the configuration of a node with
// placeholders. Problems that are not there without the patches which hold
// them are warnings.
func (c *compiler) validateKeyless(n model.Node, found *findings) error {
	if _, err := c.layersOf(n); err != nil {
		return err // wrong with and without secrets
	}
	all, err := c.tryOut(n)
	if err == nil && len(all.problems()) == 0 {
		found.take(all)
		return nil
	}
	c.skipUncertain = true
	defer func() { c.skipUncertain = false }()
	sure, sureErr := c.tryOut(n)
	if err != nil {
		all = sure // validation had no turn
	}
	found.take(all.unlike(sure, !c.incomplete))
	var problems, certain diag.List
	certain.AddErr(sureErr)
	for _, p := range listOf(err) {
		if slices.ContainsFunc(certain, func(q *diag.Problem) bool { return p.Error() == q.Error() }) || len(c.uncertain) == 0 {
			problems.Add(p)
			continue
		}
		warning := *p
		warning.Message = notCertain + p.Message
		c.warnings.Add(&warning)
	}
	return problems.Err()
}

// tryOut composes and validates the configuration of a node.
func (c *compiler) tryOut(n model.Node) (*findings, error) {
	found := newFindings(c.Name)
	cfg, err := c.compose(n)
	if err != nil {
		return found, err
	}
	return found, c.validate(n, cfg, found)
}

// take adds findings to others.
func (f *findings) take(all *findings) {
	for _, key := range all.order {
		for _, node := range all.nodes[key] {
			f.add(node, key)
		}
	}
}

// unlike turns problems that are not among the certain ones into warnings. They
// say nothing, and are dropped, if they may come of values that were left out.
func (f *findings) unlike(certain *findings, keep bool) *findings {
	out := newFindings(f.env)
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

// unique sorts problems and drops what is said twice.
func unique(list diag.List) diag.List {
	var sorted diag.List
	errors.As(list.Err(), &sorted)
	return sorted
}
