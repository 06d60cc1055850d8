package kubetree

import (
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// argoGroup is the group of Argo CD's kinds.
const argoGroup = "argoproj.io"

// inCluster are the names of the cluster that Argo CD runs in.
var inCluster = []string{"https://kubernetes.default.svc", "in-cluster"}

// applications are those of Argo CD that run a part of the tree, by namespace/name.
func (r *reader) applications() map[string]manifest.Object {
	found := map[string]manifest.Object{}
	for _, name := range slices.Concat(r.in(path.Join(bootstrapDir, argoDir)), r.in(argoDir)) {
		objects, err := manifest.Parse(r.file(name), r.tree.Files[name])
		if err != nil {
			continue // whoever reads its objects reports it
		}
		for _, o := range objects {
			if id := o.ID(); kube.IsApplication(id) {
				found[id.Namespace+"/"+id.Name] = o
			}
		}
	}
	return found
}

// argo reads what an Application owns. What it makes others of, it makes itself: they
// come in the order of their waves.
func (r *reader) argo(owner string, o manifest.Object) {
	dir, inside := r.argoDir(o)
	if !inside {
		return // of another repository, or of the user's own part of this one
	}
	into := o.Text("spec", "destination", "namespace")
	for _, name := range r.resources(dir, nil) {
		r.owned[name] = owner
		changed := false
		for _, o2 := range r.parse(name) {
			stage := stageOf(o2, kube.ArgoCD)
			seed := (strings.HasPrefix(name, argoDir+"/") || stage == kube.Definitions) && o2.ID().Group != argoGroup
			if seed && !changed {
				changed = true
				r.asArgoHasIt(owner, o, name)
			}
			r.addItem(o2, kube.Item{File: r.file(name), Stage: stage, Kustomization: owner, Engine: kube.EngineArgoCD, Destination: into, Seed: seed})
		}
	}
}

// argoDir is the directory in the tree that an Application is about.
func (r *reader) argoDir(o manifest.Object) (dir string, inside bool) {
	to := o.Map("spec", "destination")
	server, _ := to["server"].(string)
	name, _ := to["name"].(string)
	if !slices.Contains(inCluster, server) && !slices.Contains(inCluster, name) {
		return "", false // of another cluster
	}
	return r.place.Below(o.Text("spec", "source", "path"))
}

// asArgoHasIt refuses to make for Argo CD what Argo CD would change on its way.
func (r *reader) asArgoHasIt(owner string, o manifest.Object, file string) {
	for _, field := range []string{"kustomize", "helm", "plugin", "directory"} {
		if o.Value("spec", "source", field) != nil {
			r.problems.Add(diag.New(diag.Pos{File: r.file(file)}, "is made by talosgen before Argo CD runs, but Application %s changes it: spec.source.%s", owner, field).
				WithHint("leave spec.source.%s to an Application of what is not in %s/", field, argoDir))
		}
	}
}
