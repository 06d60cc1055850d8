package newenv

import (
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/yamledit"
)

// What stands in a base stays there: other environments have it too. What is other in the
// new environment is written into its own cluster.yaml.

// moveBase writes the addresses of the private network that bases have, moved as those of
// the environment's own files are.
func (a *adding) moveBase(all []value, said map[string]string, move moving) error {
	for _, v := range all {
		_, is := said[v.path]
		moved := move.text(v.node.Value)
		if v.base == "" || is || moved == v.node.Value {
			continue
		}
		if err := a.override(v, moved); err != nil {
			return err
		}
	}
	return nil
}

// override writes a value over that of a base.
func (a *adding) override(v value, text string) error {
	file := a.path(source.ClusterFile)
	for _, step := range v.steps {
		if _, err := strconv.Atoi(step); err == nil {
			return diag.New(diag.Pos{File: v.base, Line: v.node.Line, Column: v.node.Column}, "%s is in a list, and has to be %s in %s", v.path, text, a.env).
				WithHint("write the list into envs/%s/cluster.yaml, or a variable of cluster.env here", a.Like).WithCode(diag.Usage)
		}
	}
	f, err := yamledit.Parse(file, a.files[file])
	if err != nil {
		return err
	}
	value := yamledit.Text(text)
	if v.node.ShortTag() == "!!int" && digits.MatchString(text) {
		value.Tag = "!!int"
	}
	last := len(v.steps) - 1
	at := 0
	for at < last && f.Len(v.steps[:at+1]) > 0 {
		at++
	}
	for i := last; i > at; i-- {
		value = yamledit.With(yamledit.Map(), v.steps[i], value)
	}
	if f, err = f.Set(v.steps[:at], v.steps[at], value); err != nil {
		return err
	}
	a.files[file] = f.Text()
	return nil
}
