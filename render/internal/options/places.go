package options

import (
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/render/internal/machine"
)

// keys takes a path of cluster.yaml apart, such as talos.kubePrism.port; the
// indexes of lists are keys too.
func keys(path string) []string { return strings.Split(path, ".") }

// item is the path of an item of a list.
func item(list string, i int) string { return list + "." + strconv.Itoa(i) }

// places gives values of cluster.yaml the places where the file sets them.
type places struct{ config *config.Config }

// option is a value of cluster.yaml with its place.
func (c places) option(value string, path ...string) machine.Option {
	return machine.Option{Value: value, Pos: c.config.Pos(path...)}
}

// truth is "true" with its place, or nothing.
func (c places) truth(value bool, path ...string) machine.Option {
	if !value {
		return machine.Option{}
	}
	return c.option("true", path...)
}

// options are the items of a list with their places; the list's if the file
// does not have the items.
func (c places) options(values []string, path ...string) []machine.Option {
	var list []machine.Option
	for i, value := range values {
		o := c.option(value, append(path[:len(path):len(path)], strconv.Itoa(i))...)
		if o.Pos.Line == 0 {
			o.Pos = c.config.Pos(path...)
		}
		list = append(list, o)
	}
	return list
}

// mapping is a map of values with their places.
func (c places) mapping(values map[string]string, path ...string) machine.OptionMap {
	all := machine.OptionMap{}
	for key, value := range values {
		all[key] = c.option(value, append(slices.Clip(path), key)...)
	}
	return all
}

// firstPos is the place of the first of several options that the file sets.
func (c places) firstPos(options ...string) (pos diag.Pos) {
	for _, option := range options {
		if pos = c.config.Pos(keys(option)...); pos.Line > 0 {
			break
		}
	}
	return pos
}
