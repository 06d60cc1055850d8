package pools

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/yamledit"
)

// Scale makes a pool have so many nodes. Those that it has stay as they are: new
// ones get the lowest indexes that are free, and the highest go first.
func Scale(s Source, name string, count int) (*Result, error) {
	e, err := open(s)
	if err != nil {
		return nil, err
	}
	if err := e.needsServers(); err != nil {
		return nil, err
	}
	p, err := e.pool(name)
	switch {
	case err != nil:
		return nil, err
	case p.Autoscaled:
		return nil, diag.New(e.now.Pos(p.Path...), "the autoscaler decides how many nodes %q has", name).
			WithHint("give the limits with --min and --max").WithCode(diag.Usage)
	}
	if p.Machines {
		return nil, e.notCounted("dedicated servers")
	}
	if err := e.placeEmpty(&p); err != nil {
		return nil, err
	}
	indexes, ok := e.others(p).FreeIndexes(p.Indexes, p.Offset, count, p.Room)
	if !ok {
		return nil, diag.New(e.now.Pos(p.Path...), "the subnet %s has no addresses for %d nodes of the pool %q", p.Subnet, count, name).
			WithHint("it has %d; add a pool with a subnet of its own", p.Room)
	}
	if err := e.setIndexes(p, indexes); err != nil {
		return nil, err
	}
	return e.finish()
}

// ScaleLimits sets how few and how many servers the autoscaler makes; nil leaves
// a limit as it is.
func ScaleLimits(s Source, name string, least, most *int) (*Result, error) {
	e, err := open(s)
	if err != nil {
		return nil, err
	}
	p, err := e.pool(name)
	switch {
	case err != nil:
		return nil, err
	case !p.Autoscaled:
		return nil, diag.New(e.now.Pos(p.Path...), "%q is no pool of the autoscaler", name).
			WithHint("give the number of its nodes: `talosgen pool scale %s %s 3`", e.env(), name).WithCode(diag.Usage)
	}
	if least != nil {
		err = e.set(p.Path, "min", *least, "name")
	}
	if err == nil && most != nil {
		err = e.set(p.Path, "max", *most, "min", "name")
	}
	if err != nil {
		return nil, err
	}
	return e.finish()
}

// placeEmpty gives a pool without nodes and without an offset one, before it
// meets others.
func (e *editor) placeEmpty(p *config.Pool) error {
	if p.Recorded || len(p.Indexes) > 0 || len(e.others(*p)) == 0 {
		return nil
	}
	return e.place(p)
}

// set writes a number, unless a variable is in its place.
func (e *editor) set(at []string, key string, value int, after ...string) error {
	if err := e.refuseVariable(append(slices.Clip(at), key)); err != nil {
		return err
	}
	layered{e}.note(at)
	return e.put(at, key, yamledit.Number(value), after...)
}

// refuseVariable makes sure that a value is not written as a variable, which
// others may use too.
func (e *editor) refuseVariable(at []string) error {
	own, missing := e.own(at[:len(at)-1])
	if len(missing) > 0 {
		return nil // it stands in a base, and stays there
	}
	text, _ := e.file.Scalar(append(own, at[len(at)-1]))
	if !strings.Contains(text, "${") {
		return nil
	}
	return diag.New(e.now.Pos(at...), "%s is the variable %s", at[len(at)-1], text).
		WithHint("change the variable in envs/%s/cluster.env, or write a number here first", e.env())
}

// setIndexes writes which nodes a pool has: as a count while that says it, else
// as a list.
func (e *editor) setIndexes(p config.Pool, indexes []int) error {
	counted := len(indexes) == 0 || indexes[len(indexes)-1] == len(indexes)
	switch {
	case layered{e}.has(p.Path, "count"), layered{e}.has(p.Path, "indexes"):
		return layered{e}.setIndexes(p, indexes, counted)
	case p.Listed:
		return e.changeList(p, indexes)
	case counted:
		return e.set(p.Path, "count", len(indexes), "name")
	}
	if err := e.refuseVariable(append(slices.Clip(p.Path), "count")); err != nil {
		return err
	}
	own, missing := e.own(p.Path)
	if len(missing) > 0 {
		return e.put(p.Path, "indexes", yamledit.Numbers(indexes))
	}
	return e.edit(e.file.Rename(own, "count", "indexes", yamledit.Numbers(indexes)))
}

// changeList takes indexes out of a list, and puts others in, each at its place.
func (e *editor) changeList(p config.Pool, want []int) error {
	own, _ := e.own(p.Path) // the list stands there: no base has one
	at := append(own, "indexes")
	have := e.now.IndexList(p)
	for i := len(have) - 1; i >= 0; i-- {
		if slices.Contains(want, have[i]) {
			continue
		}
		if err := e.edit(e.file.Remove(at, i)); err != nil {
			return err
		}
		have = slices.Delete(have, i, i+1)
	}
	for _, index := range want {
		if slices.Contains(have, index) {
			continue
		}
		i := slices.IndexFunc(have, func(other int) bool { return other > index })
		if i < 0 {
			i = len(have)
		}
		if err := e.edit(e.file.Insert(at, i, yamledit.Number(index))); err != nil {
			return err
		}
		have = slices.Insert(have, i, index)
	}
	return nil
}
