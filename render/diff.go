package render

import (
	"bytes"
	"cmp"
	"context"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sopsage"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/explain"
	"github.com/talosgen/talosgen/render/internal/tree"
	"github.com/talosgen/talosgen/schemas"
)

// Change is a difference between the committed tree and what a render would
// make of the sources now.
type Change struct {
	File     string `json:"file"` // in the rendered tree of the environment
	Document string `json:"document,omitempty"`
	Path     string `json:"path,omitempty"` // "" for the whole file
	Action   string `json:"action"`         // added, removed, changed
	Old      string `json:"old,omitempty"`  // masked if it is secret
	New      string `json:"new,omitempty"`
	Secret   bool   `json:"secret,omitempty"`
}

// Actions of a change.
const (
	Added   = "added"
	Removed = "removed"
	Changed = "changed"
)

// Diff compares the committed tree with a result, by document and path. What
// is secret is only said to have changed.
func (r *Repo) Diff(ctx context.Context, res *Result) ([]Change, error) {
	keys, err := r.src.KeysOf(res.Env)
	if err != nil {
		return nil, err
	}
	old, err := r.src.Committed(res.Env, func(string) bool { return false })
	if err != nil {
		return nil, err
	}
	var changes []Change
	var problems diag.List
	for _, f := range res.files {
		before, exists := old[f.Path]
		delete(old, f.Path)
		switch {
		case !exists:
			changes = append(changes, Change{File: f.Path, Action: Added})
		case !bytes.Equal(before, f.Data):
			found, err := diffFile(ctx, keys, f, before)
			problems.AddErr(err)
			changes = append(changes, found...)
		}
	}
	for file := range old {
		changes = append(changes, Change{File: file, Action: Removed})
	}
	sorting.By(changes, func(a, b Change) int { return cmp.Compare(a.File, b.File) })
	return changes, problems.Err()
}

// diffFile compares two versions of a file value by value.
func diffFile(ctx context.Context, keys *sopsage.Keys, f tree.File, before []byte) ([]Change, error) {
	if err := checkEncrypted(f.Path, before); err != nil {
		return nil, err
	}
	old, err := openFile(ctx, keys, f.Path, before)
	if err != nil {
		return nil, err
	}
	now, err := openFile(ctx, keys, f.Path, f.Data)
	if err != nil {
		return nil, err
	}
	return diffLeaves(f.Path, old, now), nil
}

// diffLeaves compares the values of two versions of a file whose bytes differ.
func diffLeaves(file string, old, now []leaf) []Change {
	d := differ{file: file}
	if file == schemas.InfrastructureFile {
		d.compare(itemPlaces(old), itemPlaces(now))
	} else {
		d.compare(places(old), places(now))
	}
	d.group()
	if len(d.changes) == 0 {
		// The values are the same: the encryption, the order or the layout changed.
		d.changes = []Change{{File: file, Action: Changed}}
	}
	return d.changes
}

// place identifies a value in a file, whatever the order of its documents.
type place struct{ document, path string }

type located struct {
	place
	shown string // the document for people: a secret name is masked
	leaf  leaf
}

// identity is what names a document: a document of Talos by its kind and name, a
// Kubernetes object also by its namespace.
type identity struct {
	kind            string
	namespace, name leaf
}

// places names the document of each value by its identity.
func places(leaves []leaf) []located {
	names := map[int]identity{}
	for _, l := range leaves {
		n := names[l.Document]
		switch path := l.Path; {
		case len(path) == 1 && path[0].Key == "kind":
			n.kind = l.Value
		case len(path) == 1 && path[0].Key == "name", len(path) == 2 && path[0].Key == "metadata" && path[1].Key == "name":
			n.name = l
		case len(path) == 2 && path[0].Key == "metadata" && path[1].Key == "namespace":
			n.namespace = l
		}
		names[l.Document] = n
	}
	out := make([]located, len(leaves))
	for i, l := range leaves {
		is, shown := names[l.Document].names()
		out[i] = located{place{is, l.Path.String()}, shown, l}
	}
	return out
}

// names are the identity, and what of it is shown to people.
func (n identity) names() (is, shown string) {
	if n.kind == "" {
		return "v1alpha1", "v1alpha1"
	}
	is, shown = n.kind, n.kind
	for _, part := range []leaf{n.namespace, n.name} {
		if part.Value != "" {
			is, shown = is+"/"+part.Value, shown+"/"+explain.Shown(part.Value, part.Secret)
		}
	}
	return is, shown
}

type differ struct {
	file    string
	changes []Change
}

func (d *differ) compare(old, now []located) {
	before := map[place]leaf{}
	for _, l := range old {
		before[l.place] = l.leaf
	}
	for _, l := range now {
		was, existed := before[l.place]
		delete(before, l.place)
		switch {
		case !existed:
			d.add(l, Added, leaf{}, l.leaf)
		case was.Value != l.leaf.Value || was.Kind != l.leaf.Kind || was.Secret != l.leaf.Secret:
			d.add(l, Changed, was, l.leaf)
		}
	}
	for _, l := range old {
		if was, gone := before[l.place]; gone {
			delete(before, l.place)
			d.add(l, Removed, was, leaf{})
		}
	}
}

// group puts the changes of a document together, wherever they were found.
func (d *differ) group() {
	order := map[string]int{}
	for _, c := range d.changes {
		if _, seen := order[c.Document]; !seen {
			order[c.Document] = len(order)
		}
	}
	sorting.By(d.changes, func(a, b Change) int { return order[a.Document] - order[b.Document] })
}

func (d *differ) add(at located, action string, old, now leaf) {
	secret := old.Secret || now.Secret
	d.changes = append(d.changes, Change{
		File: d.file, Document: at.shown, Path: at.path, Action: action,
		Old: explain.Display(old.Value, old.Kind, secret), New: explain.Display(now.Value, now.Kind, secret), Secret: secret,
	})
}
