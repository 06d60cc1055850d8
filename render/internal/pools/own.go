package pools

import (
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/render/internal/base"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/nodefile"
	"github.com/talosgen/talosgen/render/internal/subst"
	"github.com/talosgen/talosgen/render/internal/yamledit"
)

// A change is made in the environment's own file, also where the value stands in a base:
// other environments have that base too. The paths of pools are those of the file as it is
// laid over its bases; own and put lead from there to the file itself.

// layered is a change of a file that is laid over a base.
type layered struct{ *editor }

// readBases reads what is below the environment's own file.
func (e *editor) readBases() error {
	parts, err := base.Read(e.File, e.with(e.Text))
	if err != nil || len(parts) == 1 {
		return err
	}
	for i, p := range parts {
		expanded, _ := subst.ExpandNode(subst.Source{File: p.File}, p.Root, e.Scope) // what is wrong was told
		parts[i].Root = expanded.Doc
	}
	e.under, err = base.Merge(parts[1:])
	return err
}

// own is where a value is in the environment's own file: as far as there is something, and
// the rest of the path.
func (e *editor) own(path []string) (at, missing []string) {
	if e.under == nil {
		return slices.Clone(path), nil
	}
	for i, step := range path {
		if config.IsIndex(step) {
			if step = (layered{e}).ownIndex(at, path[:i+1]); step == "" {
				return at, path[i:]
			}
		}
		next := append(slices.Clip(at), step)
		if e.file.Len(next) < 0 {
			return at, path[i:]
		}
		at = next
	}
	return at, nil
}

// ownIndex is the place of an item in the list of the environment's own file; "" if it is
// not there.
func (e layered) ownIndex(list, path []string) string {
	key, name := config.Item(e.now, path)
	for i := range e.file.Len(list) {
		at := append(slices.Clip(list), strconv.Itoa(i))
		text, ok := e.file.Scalar(append(at, key))
		if !ok || e.file.Deletes(at) {
			continue
		}
		if have, _, _, err := subst.Expand(text, e.Scope); err == nil && have == name {
			return strconv.Itoa(i)
		}
	}
	return ""
}

// put gives a key a value, in the environment's own file.
func (e *editor) put(path []string, key string, value *yaml.Node, after ...string) error {
	at, missing := e.own(path)
	if len(missing) == 0 {
		return e.edit(e.file.Set(at, key, value, after...))
	}
	value = yamledit.With(yamledit.Map(), key, value)
	for i := len(path) - 1; i >= len(path)-len(missing); i-- {
		step := path[i]
		if config.IsIndex(step) {
			known, name := config.Item(e.now, path[:i+1])
			item := yamledit.With(yamledit.Map(), known, yamledit.Text(name))
			item.Content = append(item.Content, value.Content...)
			value = yamledit.List(item)
			if i == len(path)-len(missing) { // the list is there, the item is not
				return e.edit(e.file.Insert(at, e.file.Len(at), item))
			}
			continue
		}
		if i == len(path)-len(missing) {
			return e.edit(e.file.Set(at, step, value))
		}
		value = yamledit.With(yamledit.Map(), step, value)
	}
	return nil
}

// note notes once that what is at a path stands in a base, and stays there.
func (e layered) note(path []string) {
	if e.under == nil {
		return
	}
	at := nodefile.Of(base.At(e.under, e.names(path)), "")
	note := fmt.Sprintf("%s is as it was: the change is in %s, for this environment alone", at, e.File)
	if at != "" && !slices.Contains(e.notes, note) {
		e.notes = append(e.notes, note)
	}
}

// has reports whether a base sets a key of what is at a path.
func (e layered) has(path []string, key string) bool {
	return e.under != nil && base.At(e.under, append(e.names(path), key)) != nil
}

// names is a path with the names of items in place of their indexes, as [base.At] takes
// it.
func (e layered) names(path []string) []string {
	names := slices.Clone(path)
	for i, step := range path {
		if config.IsIndex(step) {
			_, names[i] = config.Item(e.now, path[:i+1])
		}
	}
	return names
}

// setIndexes writes which nodes a pool has over what a base says of that.
func (e layered) setIndexes(p config.Pool, indexes []int, counted bool) error {
	key, value, other := "count", yamledit.Number(len(indexes)), "indexes"
	if !counted || p.Listed && !e.has(p.Path, "indexes") {
		key, value, other = "indexes", yamledit.Numbers(indexes), "count"
		if e.has(p.Path, key) {
			value = yamledit.Replacing(value)
		}
	}
	if err := e.refuseVariable(append(slices.Clip(p.Path), key)); err != nil {
		return err
	}
	e.note(p.Path)
	if err := e.put(p.Path, key, value, "name"); err != nil {
		return err
	}
	at, missing := e.own(p.Path)
	at = append(at, other)
	if own := len(missing) == 0 && e.file.Has(at); e.file.Deletes(at) || !own && !e.has(p.Path, other) {
		return nil
	}
	return e.put(p.Path, other, yamledit.Deleted(), "name")
}

// remove takes an item out of a list, and out of what bases have of it.
func (e layered) remove(path []string) error {
	list := path[:len(path)-1]
	key, name := config.Item(e.now, path)
	at, missing := e.own(path)
	own := len(missing) == 0
	inBase := base.At(e.under, e.names(path)) != nil
	// An empty list would say nothing about that of the base.
	if inBase || own && e.file.Len(at[:len(at)-1]) == 1 && base.At(e.under, e.names(list)) != nil {
		e.note(path)
		if err := e.add(list, yamledit.DeletedItem(key, name)); err != nil {
			return err
		}
	}
	if !own {
		return nil
	}
	return e.edit(e.file.Remove(at[:len(at)-1], last(at)))
}

// add adds an item to a list of the environment's own file, which may not be there
// yet, nor what it is in.
func (e layered) add(list []string, value *yaml.Node) error {
	at, missing := e.own(list)
	if len(missing) == 0 {
		return e.edit(e.file.Insert(at, e.file.Len(at), value))
	}
	if list[0] == "autoscaler" && !e.now.Has("autoscaler.enabled") {
		if err := e.put(list[:1], "enabled", yamledit.Bool(true)); err != nil {
			return err
		}
	}
	return e.put(list[:len(list)-1], list[len(list)-1], yamledit.List(value))
}
