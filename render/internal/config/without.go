package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/subst"
)

// Options are the paths of the values that the file sets, in the order of their
// places. A list is one value, whatever is in it.
func (c *Config) Options() [][]string {
	all := map[string][]string{}
	inner := map[string]bool{}
	for key := range c.pos {
		path := strings.Split(key, "\x00")
		if i := slices.IndexFunc(path, IsIndex); i >= 0 {
			path = path[:i]
		}
		all[join(path)] = path
		for n := range len(path) {
			inner[join(path[:n])] = true
		}
	}
	var options [][]string
	for key, path := range all {
		if key != "" && !inner[key] {
			options = append(options, path)
		}
	}
	sorting.By(options, func(a, b []string) int {
		before, after := c.Pos(a...), c.Pos(b...)
		return cmp.Or(strings.Compare(before.File, after.File), cmp.Compare(before.Line, after.Line), cmp.Compare(before.Column, after.Column), slices.Compare(a, b))
	})
	return options
}

// IsIndex reports whether a step of a path is the index of an item.
func IsIndex(key string) bool {
	_, err := strconv.Atoi(key)
	return err == nil
}

// LoadWithout is [Load] of a file from which one of its [Config.Options] was
// taken away, so that its default counts; needed tells that the file cannot do
// without it, and that the result lacks something. The error is that the option
// cannot be taken away.
func LoadWithout(file string, files Files, scope *subst.Scope, option []string) (c *Config, needed bool, err error) {
	doc, err := read(file, files, scope)
	if err != nil {
		return nil, false, err
	}
	if !remove(doc.root, option) {
		return nil, false, fmt.Errorf("%s does not set %s itself", file, strings.Join(option, "."))
	}
	c, err = decoded(file, doc, scope, leniency{})
	return c, err != nil, nil
}

// remove takes what a path leads to out of mappings. What an alias stands for
// stays: it may be used elsewhere.
func remove(at *yaml.Node, path []string) bool {
	if at.Kind != yaml.MappingNode || len(path) == 0 {
		return false
	}
	for i := 0; i+1 < len(at.Content); i += 2 {
		if at.Content[i].Value != path[0] {
			continue
		}
		if len(path) > 1 {
			return remove(at.Content[i+1], path[1:])
		}
		at.Content = slices.Delete(at.Content, i, i+2)
		return true
	}
	return false
}
