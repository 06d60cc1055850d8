package render

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/secret"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// allReferences lists what the addons of all environments need from elsewhere.
// It needs no keys.
func (r *Repo) allReferences(ctx context.Context) ([]chartlock.Reference, error) {
	envs, err := r.Environments()
	if err != nil {
		return nil, err
	}
	var all []chartlock.Reference
	var problems diag.List
	for _, env := range envs {
		addons, err := r.declaredAddons(ctx, env)
		problems.AddErr(err)
		for _, ref := range references(addons) {
			if !slices.Contains(all, ref) {
				all = append(all, ref)
			}
		}
	}
	slices.SortFunc(all, func(a, b chartlock.Reference) int { return cmp.Compare(a.String(), b.String()) })
	return all, problems.Err()
}

// declaredAddons are the addons of an environment, without any secret.
func (r *Repo) declaredAddons(ctx context.Context, env string) ([]catalogue.Addon, error) {
	c, err := r.compiler(ctx, env, true)
	if err != nil {
		return nil, err
	}
	v := c.realVariant()
	for _, n := range c.config.AutoscaledNodes() {
		v.autoscaled[n.Pool] = secret.New(placeholder) // the configurations do not decide about sources
	}
	addons, err := allAddons(c.addonFacts(v))
	if err != nil {
		return nil, fmt.Errorf("environment %s: %w", env, err)
	}
	return addons, nil
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
