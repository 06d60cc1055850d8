package catalogue

import "github.com/talosgen/talosgen/schemas"

const (
	fluxName      = "flux"
	fluxNamespace = "flux-system"
	fluxVersion   = "v2.9.5"
)

// flux are the components of Flux. They are no addon that Flux runs: see [Engine].
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
