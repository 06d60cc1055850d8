// Package kubetree reads what a rendered tree wants of Kubernetes: which
// objects, whose they are, and when they are made. It is pure: files in, objects
// out.
//
// What is in bootstrap/ is talosgen's. What the path of a Kustomization of Flux
// leads to is that Kustomization's, as Flux would read it, and likewise with an
// Application of Argo CD. What else is in flux/ or argocd/ is talosgen's, since nothing
// else would make it.
package kubetree

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/followed"
	"github.com/talosgen/talosgen/internal/manifest"
)

// The directories of a tree with objects for Kubernetes.
const (
	bootstrapDir = "bootstrap"
	addonsDir    = "addons"
	fluxDir      = "flux"
	argoDir      = "argocd"
)

// Dirs are the directories of a tree that [Read] looks at.
func Dirs() []string { return []string{bootstrapDir, addonsDir, fluxDir, argoDir} }

// networks are the addons that are the network of pods.
var networks = []string{"cilium", "calico", "flannel", "canal", "kube-router", "antrea", "kube-ovn"}

// Tree is the files of a rendered tree, decrypted.
type Tree struct {
	// The name of the environment: the tree is rendered/<env> in the repository of
	// talosgen.
	Env   string
	Files map[string][]byte // by path in the tree
	// Brings an object into the form in which Flux applies it; nil: it stays.
	Normalize func(manifest.Object) (manifest.Object, error)
}

// Read reads the objects. All problems are in the error.
func Read(cluster string, t Tree) (kube.Desired, error) {
	r := &reader{tree: t, owned: map[string]string{}, desired: kube.Desired{Cluster: cluster}}
	r.place = r.followed()
	owners := r.kustomizations()
	r.bootstrap()
	for _, name := range slices.Sorted(maps.Keys(owners)) {
		r.flux(name, owners[name])
	}
	applications := r.applications()
	for _, name := range slices.Sorted(maps.Keys(applications)) {
		r.argo(name, applications[name])
	}
	r.rest()
	return r.desired, r.problems.Err()
}

type reader struct {
	tree     Tree
	place    followed.Tree     // where it is in the repository that Flux or Argo CD follows
	owned    map[string]string // Kustomization or Application by file
	desired  kube.Desired
	problems diag.List
	// Whether the Flux Operator installs Flux. Its kinds are not there before.
	operated bool
}

// file is the name of a file in the repository.
func (r *reader) file(name string) string { return path.Join("rendered", r.tree.Env, name) }

// in are the manifests below a directory, sorted.
func (r *reader) in(dir string) (names []string) {
	for name := range r.tree.Files {
		if strings.HasPrefix(name, dir+"/") && isManifest(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func isManifest(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) && !isKustomization(name)
}

func isKustomization(name string) bool {
	return slices.Contains([]string{"kustomization.yaml", "kustomization.yml", "Kustomization"}, path.Base(name))
}

// parse reads a file once per owner; what cannot be read is noted.
func (r *reader) parse(name string) []manifest.Object {
	objects, err := manifest.Parse(r.file(name), r.tree.Files[name])
	r.problems.AddErr(err)
	return objects
}

// followed is where the tree is in the repository that Flux or Argo CD follows.
func (r *reader) followed() followed.Tree {
	var objects []manifest.Object
	for _, name := range slices.Concat(r.in(fluxDir), r.in(path.Join(bootstrapDir, argoDir))) {
		// Whoever reads its objects reports what cannot be read.
		some, _ := manifest.Parse(r.file(name), r.tree.Files[name])
		objects = append(objects, some...)
	}
	return followed.Of(r.file(""), objects)
}

// kustomizations are those of Flux that the tree has, and that which the Flux Operator
// makes of its FluxInstance, by namespace/name.
func (r *reader) kustomizations() map[string]manifest.Object {
	found := map[string]manifest.Object{}
	for _, name := range slices.Concat(r.in(fluxDir), r.in(addonsDir)) {
		objects, err := manifest.Parse(r.file(name), r.tree.Files[name])
		if err != nil {
			continue // whoever reads its objects reports it
		}
		for _, o := range objects {
			if root := o.Synced(); root != nil {
				o, r.operated = root, true
			}
			if id := o.ID(); id.Group == "kustomize.toolkit.fluxcd.io" && id.Kind == "Kustomization" {
				found[id.Namespace+"/"+id.Name] = o
			}
		}
	}
	return found
}

// bootstrap reads what is talosgen's.
func (r *reader) bootstrap() {
	for _, name := range r.in(bootstrapDir) {
		addon, _, _ := strings.Cut(strings.TrimPrefix(name, bootstrapDir+"/"), "/")
		stage := kube.Provider
		switch {
		case slices.Contains(networks, addon):
			stage = kube.CNI
		case addon == fluxDir:
			stage = kube.Keys
		}
		for _, o := range r.parse(name) {
			r.add(o, name, stageOf(o, stage), "", false)
		}
	}
}

// stageOf is when an object is made that belongs to a stage.
func stageOf(o manifest.Object, stage kube.Stage) kube.Stage {
	switch id := o.ID(); {
	case id.Kind == "CustomResourceDefinition" || id.Kind == "Namespace" && id.Group == "":
		return kube.Definitions
	case stage == kube.Flux && (strings.HasSuffix(id.Group, fluxGroups) || manifest.IsFluxInstance(id)):
		return kube.Sources
	case id.Group == argoGroup:
		return kube.Sources
	}
	return stage
}

// rest reads what is in flux/ or argocd/ and in no Kustomization or Application:
// talosgen's.
func (r *reader) rest() {
	for _, name := range slices.Concat(r.in(fluxDir), r.in(argoDir)) {
		if r.owned[name] != "" {
			continue
		}
		stage := kube.Flux
		if strings.HasPrefix(name, argoDir+"/") {
			stage = kube.ArgoCD
		}
		for _, o := range r.parse(name) {
			r.add(o, name, stageOf(o, stage), "", false)
		}
	}
}

// flux reads what a Kustomization owns.
func (r *reader) flux(owner string, k manifest.Object) {
	dir, inside := r.dir(k)
	if !inside {
		return // of another repository, or of the user's own part of this one
	}
	for _, name := range r.resources(dir, nil) {
		r.owned[name] = owner
		changed := false
		for _, o := range r.parse(name) {
			stage := stageOf(o, kube.Flux)
			// Namespaces and definitions too: what bootstrap/ has may need them.
			seed := (strings.HasPrefix(name, fluxDir+"/") || stage == kube.Definitions) && !r.ofFlux(o)
			if seed && !changed {
				changed = true
				r.asItIs(owner, k, name)
			}
			r.add(o, name, stage, owner, seed)
		}
	}
}

// dir is the directory in the tree that a Kustomization is about.
func (r *reader) dir(k manifest.Object) (dir string, inside bool) {
	if len(k.Map("spec", "kubeConfig")) > 0 {
		return "", false // of another cluster
	}
	return r.place.Below(k.Text("spec", "path"))
}

// asItIs refuses to make for Flux what Flux would change on its way.
func (r *reader) asItIs(owner string, k manifest.Object, file string) {
	for _, field := range []string{"targetNamespace", "namePrefix", "nameSuffix", "commonMetadata", "patches", "images", "components"} {
		if k.Value("spec", field) != nil {
			r.problems.Add(diag.New(diag.Pos{File: r.file(file)}, "is made by talosgen before Flux runs, but Kustomization %s changes it: spec.%s", owner, field).
				WithHint("leave spec.%s to a Kustomization of what is not in %s/", field, fluxDir))
		}
	}
}

// resources are the files that Flux would read in a directory: those of its
// kustomization.yaml, or else all manifests.
func (r *reader) resources(dir string, above []string) (names []string) {
	if slices.Contains(above, dir) {
		r.problems.Add(diag.New(diag.Pos{File: r.file(dir)}, "refers to itself: %s", strings.Join(append(above, dir), " -> ")))
		return nil
	}
	above = append(slices.Clone(above), dir)
	for _, base := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		name := path.Join(dir, base)
		if data, found := r.tree.Files[name]; found {
			return r.listed(dir, name, data, above)
		}
	}
	// Without one, Flux makes one of all manifests, and takes directories that
	// have one as a whole.
	for _, name := range r.in(dir) {
		below := r.ownDir(dir, name)
		if below == "" {
			names = append(names, name)
			continue
		}
		for _, n := range r.resources(below, above) {
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// ownDir is the first directory on the way from dir to a file that has a
// kustomization.yaml; empty if there is none.
func (r *reader) ownDir(dir, name string) string {
	at := dir
	parts := strings.Split(strings.TrimPrefix(path.Dir(name), dir), "/")
	for _, part := range parts {
		if part == "" {
			continue
		}
		at = path.Join(at, part)
		for file := range r.tree.Files {
			if path.Dir(file) == at && isKustomization(file) {
				return at
			}
		}
	}
	return ""
}
