package newenv

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/yamledit"
)

// What stands in a base stays there: other environments have it too. What is other in the
// new environment is written into its own cluster.yaml.

// moveBase writes the addresses of the private network that bases have, moved as those of
// the environment's own files are.
func (a *adding) moveBase(all []value, said map[string]string, move moving) error {
	done := map[string]bool{} // lists
	for _, v := range all {
		_, is := said[v.path]
		moved := move.text(v.node.Value)
		if v.base == "" || is || moved == v.node.Value {
			continue
		}
		list, inList := v.list()
		switch {
		case done[list] && inList:
		case inList:
			done[list] = true
			if err := a.overrideList(v, list, all, move); err != nil {
				return err
			}
		default:
			if err := a.override(v, moved); err != nil {
				return err
			}
		}
	}
	return nil
}

// list is the path of the list of single values that a value is in; false if it is in
// none, or in another list besides.
func (v value) list() (path string, is bool) {
	last := len(v.steps) - 1
	if !config.IsIndex(v.steps[last]) || slices.ContainsFunc(v.steps[:last], config.IsIndex) {
		return "", false
	}
	return v.path[:strings.LastIndex(v.path, "[")], true
}

// overrideList writes a list in place of that of a base, with its addresses moved.
func (a *adding) overrideList(v value, list string, all []value, move moving) error {
	items := yamledit.Texts(nil)
	items.Style = yaml.FlowStyle
	for _, other := range all {
		of, is := other.list()
		if !is || of != list {
			continue
		}
		if other.base == "" {
			return a.cannot(v, move.text(v.node.Value)) // the list stands in both
		}
		items.Content = append(items.Content, yamledit.Text(move.text(other.node.Value)))
	}
	return a.write(v.steps[:len(v.steps)-1], yamledit.Replacing(items))
}

// cannot refuses a value that cannot be written over one of a base.
func (a *adding) cannot(v value, text string) error {
	return diag.New(diag.Pos{File: v.base, Line: v.node.Line, Column: v.node.Column}, "%s is in a list, and has to be %s in %s", v.path, text, a.env).
		WithHint("write the list into envs/%s/cluster.yaml, or a variable of cluster.env here", a.Like).WithCode(diag.Usage)
}

// override writes a value over that of a base.
func (a *adding) override(v value, text string) error {
	if slices.ContainsFunc(v.steps, config.IsIndex) {
		return a.cannot(v, text)
	}
	value := yamledit.Text(text)
	if v.node.ShortTag() == "!!int" && digits.MatchString(text) {
		value.Tag = "!!int"
	}
	return a.write(v.steps, value)
}

// write writes a value into the new cluster.yaml, with the mappings around it.
func (a *adding) write(steps []string, value *yaml.Node) error {
	file := a.path(source.ClusterFile)
	f, err := yamledit.Parse(file, a.files[file])
	if err != nil {
		return err
	}
	at := 0
	for at < len(steps)-1 && f.Len(steps[:at+1]) > 0 {
		at++
	}
	for i := len(steps) - 1; i > at; i-- {
		value = yamledit.With(yamledit.Map(), steps[i], value)
	}
	if f, err = f.Set(steps[:at], steps[at], value); err != nil {
		return err
	}
	a.files[file] = f.Text()
	return nil
}
