package config

import (
	"maps"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// warnNotYet warns of each of the options that the file sets: they were
// checked, but nothing reads them.
func (c *Config) warnNotYet(options []string) {
	for _, option := range options {
		at, why := c.find(nil, keys(option)), schemas.NoEffect[option]
		switch {
		case at == nil:
		case why != "":
			c.Warnings.Add(diag.New(c.Pos(at...), "%s has no effect", option).WithHint("%s", why))
		default:
			c.Warnings.Add(diag.New(c.Pos(at...), "%s is not in effect yet", option))
		}
	}
}

// find returns the first place below base that an option is set at, or nil. An
// option goes through all items of a list, and all addons.
func (c *Config) find(base, option []string) []string {
	if len(option) == 0 {
		return base
	}
	for i := 0; c.has(sub(base, strconv.Itoa(i))...); i++ {
		if at := c.find(sub(base, strconv.Itoa(i)), option); at != nil {
			return at
		}
	}
	if len(base) == 1 && base[0] == "addons" {
		for _, name := range slices.Sorted(maps.Keys(c.Addons)) {
			if next := sub(sub(base, name), option[0]); c.has(next...) {
				if at := c.find(next, option[1:]); at != nil {
					return at
				}
			}
		}
	}
	if next := sub(base, option[0]); c.has(next...) {
		return c.find(next, option[1:])
	}
	return nil
}
