package addons

import (
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/layer"
)

// brokenLinks are the links that lead nowhere among the files of an addon: what
// it consists of would lack them without a word.
func (f folders) brokenLinks(a catalogue.Addon) (broken diag.List) {
	places := []string{path.Join(layer.PatchesDir, layer.AddonsDir, a.Name), f.dir(a.Name)}
	if a.Source != nil {
		places = append(places, a.Source.Path)
		if a.Source.Chart != nil {
			places = append(places, a.Source.Chart.Path)
		}
	}
	for _, p := range f.broken {
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

// unusedLinks are the links that lead nowhere, in charts and files of addons
// that the environment does not have.
func (f folders) unusedLinks(all []catalogue.Addon) (unused diag.List) {
	for _, p := range f.broken {
		used := slices.ContainsFunc(all, func(a catalogue.Addon) bool { return slices.Contains(f.brokenLinks(a), p) })
		if !used {
			unused.Add(p)
		}
	}
	return unused
}
