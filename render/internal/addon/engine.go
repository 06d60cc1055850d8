package addon

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// Engine renders addons. It keeps nothing from one to the next.
type Engine struct {
	// The repository of the user: charts/ and the paths that addons name.
	// Nothing is read but through it and Artifact.
	Repository fs.FS
	// Artifact returns what charts.lock pins for a chart of a repository or
	// registry, or for a URL, with its digest checked. It tells people how to
	// get what is missing.
	Artifact func(chartlock.Reference) (chartlock.Artifact, error)
	// The version of Kubernetes, such as 1.37.1.
	Kubernetes string
	// APIs that the cluster has besides those of Kubernetes, as charts ask for
	// them: gateway.networking.k8s.io/v1 and gateway.networking.k8s.io/v1/Gateway.
	APIVersions []string
	// Bound returns a context that ends when the templates of a chart have taken
	// too much of this machine: its cause goes on with "the templates of the chart
	// x", such as "take more than 1 GiB of memory". Nil: they may.
	Bound func(context.Context) (context.Context, context.CancelFunc)
}

// Result is what an addon consists of.
type Result struct {
	// Sorted. Those whose kind is known to need a namespace have one.
	Objects []manifest.Object
	// Definitions of custom resources: they are applied before all objects, and
	// no kustomization sees them.
	CRDs []manifest.Object
	// What does not stop a render.
	Warnings []Warning
}

// Warning is something that is probably not as it was meant.
type Warning struct {
	// The place in the values that it is about: keys from the root. Nil if it is
	// about something else.
	Values  []string
	Message string
	Hint    string
}

// Render renders an addon. values are all its values, merged: those of the
// addon itself are not looked at. Errors name the file and the line of a chart
// or manifest where one is to blame, else the option that declared the addon.
func (e *Engine) Render(ctx context.Context, a catalogue.Addon, values map[string]any) (Result, error) {
	r, err := e.source(ctx, a, values)
	if err != nil {
		return Result{}, err
	}
	for _, o := range a.Objects {
		value, err := manifest.Normalize(map[string]any(o))
		if err != nil {
			return Result{}, fmt.Errorf("%s: %s: %w", a.Origin, o.ID(), err)
		}
		r.Objects = append(r.Objects, value.(map[string]any))
	}
	r.Objects, r.CRDs = splitDefinitions(r.Objects, r.CRDs)
	manifest.NewScopes(r.CRDs...).SetNamespace(releaseNamespace(a), r.Objects)
	manifest.Sort(r.Objects)
	manifest.Sort(r.CRDs)
	return r, twice(a, slices.Concat(r.CRDs, r.Objects))
}

// source renders what the addon's source gives.
func (e *Engine) source(ctx context.Context, a catalogue.Addon, values map[string]any) (Result, error) {
	switch s := a.Source; {
	case s == nil:
		return Result{}, nil
	case s.Chart != nil:
		return e.chart(ctx, a, *s.Chart, values)
	case len(s.Manifests) > 0:
		return e.remotes(s.Manifests)
	default:
		return e.local(a, s.Path)
	}
}

// releaseNamespace is the namespace of the addon.
func releaseNamespace(a catalogue.Addon) string {
	if a.Namespace == "" {
		return "default"
	}
	return a.Namespace
}

// splitDefinitions moves the definitions of custom resources out of objects.
func splitDefinitions(objects, definitions []manifest.Object) (rest, crds []manifest.Object) {
	for _, o := range objects {
		if o.IsDefinition() {
			definitions = append(definitions, o)
		} else {
			rest = append(rest, o)
		}
	}
	return rest, definitions
}

// twice refuses the same object two times: which one the cluster gets would
// depend on the order.
func twice(a catalogue.Addon, objects []manifest.Object) error {
	var problems diag.List
	seen := map[manifest.ID]bool{}
	for _, o := range objects {
		id := o.ID()
		if seen[id] {
			problems.Add(diag.On(a.Origin, "the addon %s has the object %s twice", a.Name, id))
		}
		seen[id] = true
	}
	return problems.Err()
}
