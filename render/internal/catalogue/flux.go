package catalogue

import "github.com/talosgen/talosgen/schemas"

const (
	fluxName      = "flux"
	fluxNamespace = "flux-system"
	fluxVersion   = "v2.9.5"
)

// flux are the components of Flux. They are no addon that Flux runs: see [Flux].
func flux() entry {
	e := entry{
		about:     "the components of Flux",
		defaultOn: "with gitops.engine: flux", options: "gitops",
		name: fluxName, layer: Bootstrap, namespace: fluxNamespace, fixed: true, version: fluxVersion, onlyBy: componentsOpt + ": " + schemas.Managed,
		wanted: func(f *facts) (bool, string) {
			g := f.Cluster.GitOps
			return g.Engine == schemas.Flux && g.Components == schemas.Managed, "gitops.engine"
		},
	}
	e.build = func(f *facts, a *Addon) {
		a.Keep = true
		a.Source = &Source{Manifests: []Remote{{URL: "https://github.com/fluxcd/flux2/releases/download/" + f.version(e) + "/install.yaml"}}}
	}
	return e
}

// Flux returns the components of Flux as an addon, or the operator that installs
// them, which [Addons] does not list; false if the cluster has no Flux, or one that
// is there already.
func Flux(given Facts) (Addon, bool, error) {
	f := &facts{Facts: given}
	for _, e := range []entry{flux(), fluxOperator()} {
		on, origin := f.enabled(e)
		if !on {
			addonSettings{f}.checkUnused(e)
			continue
		}
		a := f.addon(e, origin)
		e.build(f, &a)
		addonSettings{f}.settle(e, &a)
		return a, true, f.problems.Err()
	}
	return Addon{}, false, f.problems.Err()
}

// IsFlux reports whether an addon is Flux itself, or its operator: its objects are
// beside those that make Flux watch the repository.
func IsFlux(addon string) bool { return addon == fluxName || addon == operatorName }
