package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/gitops"
	"github.com/talosgen/talosgen/schemas"
)

// warnMoved warns of addons that Flux runs, as the tree is now, and apply is to
// keep from this render on. As soon as Flux sees that they are gone from what it
// watches it removes them, unless it is told to wait.
func (p *plan) warnMoved(res *Result, before []string) {
	var now []string
	for _, f := range res.files {
		now = append(now, f.Path)
	}
	now = append(now, res.kept...)
	if p := operatorComes(before, now); p != nil {
		res.Warnings.Add(p)
	}
	if other := engineChanges(before, now); other != nil {
		res.Warnings.Add(other)
		return
	}
	if engineIn(now) == schemas.ArgoCD {
		return // whose Secrets have always been apply's
	}
	was, is := bootstrapAddons(before), bootstrapAddons(now)
	for _, file := range before {
		addon, step := fluxAddonOf(file)
		if addon == "" || !is[addon] || was[addon] {
			continue
		}
		was[addon] = true // once
		res.Warnings.Add(diag.On("addon "+addon, "Flux runs it, and apply is to keep it from now on").
			WithHint("where the cluster runs already: `flux suspend kustomization talosgen-%s -n %s`, push, `talosgen apply %s`, then `flux resume kustomization` the same.\n"+
				"Else Flux removes it with the push, and the cluster is without it until apply makes it again", step, gitops.Namespace, p.Name))
	}
}

// operatorComes warns of Flux itself, which its operator is to have from this render
// on. A Flux that sees first that it is not what installs itself must not act on that.
func operatorComes(before, now []string) *diag.Problem {
	const mark = gitops.BootstrapDir + "/" + gitops.FluxDir + "/manifests.yaml" // with the namespace, which is Flux' own otherwise
	if !slices.Contains(before, gitops.FluxDir+"/manifests.yaml") || slices.Contains(before, mark) || !slices.Contains(now, mark) {
		return nil
	}
	return diag.On("gitops.components", "the Flux Operator is to install Flux from now on, and has to take it over where it runs already").
		WithHint("where the cluster runs already: `flux suspend kustomization %[1]s -n %[2]s`, push, `talosgen apply`, then `flux resume kustomization %[1]s -n %[2]s`", gitops.Name, gitops.Namespace)
}

// engineIn is the engine of a tree, as its files say; empty if it has none.
func engineIn(files []string) string {
	switch {
	case slices.Contains(files, gitops.FluxDir+"/manifests.yaml"):
		return schemas.Flux
	case slices.Contains(files, gitops.BootstrapDir+"/"+gitops.ArgoDir+"/manifests.yaml"):
		return schemas.ArgoCD
	}
	return ""
}

// engineChanges warns of another engine than the tree had: the one before still runs in
// a cluster, and removes what it sees no more.
func engineChanges(before, now []string) *diag.Problem {
	was, is := engineIn(before), engineIn(now)
	if was == is || was == "" || is == "" {
		return nil
	}
	return diag.On("gitops.engine", "%s runs the addons, and %s is to run them from now on", schemas.EngineTitle(was), schemas.EngineTitle(is)).
		WithHint("where the cluster runs already, let the one before wait first, or it removes them with the push: see docs/how-to/argocd.md")
}

// bootstrapAddons are the addons that apply keeps, as the files of a tree say.
func bootstrapAddons(files []string) map[string]bool {
	found := map[string]bool{}
	for _, file := range files {
		if dir, addon, _ := cutPath(file); dir == gitops.BootstrapDir {
			found[addon] = true
		}
	}
	return found
}

// fluxAddonOf is the addon that a file belongs to which Flux reads, and its
// step; empty if it belongs to none.
func fluxAddonOf(file string) (addon, step string) {
	dir, step, rest := cutPath(file)
	addon, _, isDir := strings.Cut(rest, "/")
	if dir != gitops.AddonsDir || !isDir {
		return "", ""
	}
	return addon, step
}

// cutPath takes the first two directories from a path.
func cutPath(file string) (first, second, rest string) {
	first, rest, _ = strings.Cut(file, "/")
	second, rest, _ = strings.Cut(rest, "/")
	return first, second, rest
}

// paths are the names of files, sorted.
func paths(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }
