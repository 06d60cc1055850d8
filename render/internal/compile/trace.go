package compile

import (
	"github.com/talosgen/talosgen/render/internal/machine"
	"github.com/talosgen/talosgen/render/internal/model"
	"github.com/talosgen/talosgen/render/internal/options"
)

// Trace names the layers that had a say about each value of a node.
func (c *Compiler) Trace(n model.Node) ([]machine.Traced, error) { return c.traceWithout(n, noFile) }

func (c *Compiler) traceWithout(n model.Node, skip func(file string) bool) ([]machine.Traced, error) {
	l, err := c.layersOf(n, skip)
	if err != nil {
		return nil, err
	}
	patches := l.patches
	if l.options != nil {
		patches = append([]*machine.Patch{l.options}, patches...)
	}
	traced, err := machine.Trace(l.base, patches)
	if err != nil {
		return nil, err
	}
	return traced, c.nameOptions(n, traced)
}

// nameOptions gives values that Talos generated from options of cluster.yaml
// the place of the option: the line is what a user can change.
func (c *Compiler) nameOptions(n model.Node, traced []machine.Traced) error {
	settings, err := options.Settings(c.model, n)
	if err != nil {
		return err
	}
	follows, err := machine.Follows(settings, n.MachineRole(), c.in.Bundle)
	if err != nil {
		return err
	}
	for i := range traced {
		t := &traced[i]
		// A value that Talos generated is always the lowest.
		if len(t.Origins) == 0 || t.Origins[0].Layer != machine.GeneratedLayer {
			continue
		}
		if setting := follows(t.Document, t.Leaf.Path); setting != "" {
			index := t.Leaf.Path[len(t.Leaf.Path)-1].Index
			t.Origins[0].Layer, t.Origins[0].Pos = machine.OptionsLayer, options.SettingPos(c.model, n, setting, index)
		}
	}
	return nil
}
