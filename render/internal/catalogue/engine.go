package catalogue

import "github.com/talosgen/talosgen/schemas"

const (
	argoName      = "argocd"
	argoNamespace = "argocd"
	argoVersion   = "v3.5.7"
)

// argoCD are the components of Argo CD. They are no addon that Argo CD runs: see
// [Engine].
func argoCD() entry {
	e := entry{
		about:     "the components of Argo CD",
		defaultOn: "with gitops.engine: argocd", options: "gitops",
		name: argoName, layer: Bootstrap, namespace: argoNamespace, fixed: true, version: argoVersion, onlyBy: "gitops.engine: " + schemas.ArgoCD,
		wanted: func(f *facts) (bool, string) {
			g := f.Cluster.GitOps
			return g.Engine == schemas.ArgoCD && g.Components == schemas.Managed, "gitops.engine"
		},
	}
	e.build = func(f *facts, a *Addon) {
		a.Keep = true
		a.Source = &Source{Manifests: []Remote{{URL: "https://raw.githubusercontent.com/argoproj/argo-cd/" + f.version(e) + "/manifests/install.yaml"}}}
	}
	return e
}

// engines are those that run addons from Git, each by its components or by what
// installs these.
func engines() []entry { return []entry{flux(), fluxOperator(), argoCD()} }

// Engine returns the components of the engine as an addon, or the operator that
// installs them, which [Addons] does not list; false if the cluster has no engine, or one
// that is there already.
func Engine(given Facts) (Addon, bool, error) {
	f := &facts{Facts: given}
	for _, e := range engines() {
		if !knows(f, e.name) {
			continue
		}
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

// IsEngine reports whether an addon is the engine itself, or its operator: its objects
// are beside those that make it watch the repository.
func IsEngine(addon, engine string) bool {
	return addon == fluxName || addon == operatorName || addon == argoName && engine == schemas.ArgoCD
}

// knows reports whether a name is one of the catalogue. Who has no Argo CD of talosgen's
// may have one of their own, as an addon like all others.
func knows(f *facts, name string) bool {
	g := f.Cluster.GitOps
	return name != argoName || g.Engine == schemas.ArgoCD && g.Components == schemas.Managed
}

// namesFor are those that the catalogue knows for a cluster.
func namesFor(f *facts) (names []string) {
	for _, name := range Names() {
		if knows(f, name) {
			names = append(names, name)
		}
	}
	return names
}
