package render

import (
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/addons"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// ChartsNeeded lists where the addons of environments come from, or of all if none
// is named. It needs no keys.
func (r *Repo) ChartsNeeded(ctx context.Context, envs ...string) (all chartlock.Needed, err error) {
	if len(envs) == 0 {
		if envs, err = r.src.Environments(); err != nil {
			return all, err
		}
	}
	var problems diag.List
	for _, env := range envs {
		c, err := r.compiler(ctx, env, true)
		if err != nil {
			problems.AddErr(err)
			continue
		}
		for _, a := range c.Config.Addons {
			all.Paths = append(all.Paths, path.Clean(a.Source.Chart.Path), path.Clean(a.Source.Path))
		}
		declared, err := addons.Declared(c.addons())
		problems.AddErr(err)
		for _, ref := range references(declared) {
			if !slices.Contains(all.References, ref) {
				all.References = append(all.References, ref)
			}
		}
	}
	sorting.By(all.References, func(a, b chartlock.Reference) int { return cmp.Compare(a.String(), b.String()) })
	return all, problems.Err()
}

// references lists what addons need from elsewhere.
func references(addons []catalogue.Addon) []chartlock.Reference {
	var all []chartlock.Reference
	for _, a := range addons {
		if a.Source == nil {
			continue
		}
		if chart := a.Source.Chart; chart != nil && chart.Path == "" {
			all = append(all, chartlock.Reference{Repository: chart.Repository, Name: chart.Name, Version: chart.Version})
		}
		for _, m := range a.Source.Manifests {
			all = append(all, chartlock.Reference{URL: m.URL, SHA256: m.SHA256})
		}
	}
	return all
}
