package render

import (
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/source"
)

// brokenLinks are the links that lead nowhere among the files of an addon: what
// it consists of would lack them without a word.
func (c *compiler) brokenLinks(a catalogue.Addon) (broken diag.List) {
	places := []string{path.Join(source.PatchesDir, addonsDir, a.Name), c.Path(path.Join(addonsDir, a.Name))}
	if a.Source != nil {
		places = append(places, a.Source.Path)
		if a.Source.Chart != nil {
			places = append(places, a.Source.Chart.Path)
		}
	}
	for _, p := range c.Broken {
		concerns := func(place string) bool {
			place = path.Clean(place)
			return place == p.Pos.File || strings.HasPrefix(p.Pos.File, place+"/") || strings.HasPrefix(place, p.Pos.File+"/")
		}
		if slices.ContainsFunc(places, concerns) {
			broken.Add(p)
		}
	}
	return broken
}

// warnOfLinks warns of links that lead nowhere, in charts and files of addons
// that the environment does not have.
func (c *compiler) warnOfLinks(all []catalogue.Addon) {
	for _, p := range c.Broken {
		used := slices.ContainsFunc(all, func(a catalogue.Addon) bool { return slices.Contains(c.brokenLinks(a), p) })
		if !used {
			c.warnings.Add(p)
		}
	}
}
