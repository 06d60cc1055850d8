package gitops

import (
	"cmp"
	"path"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/schemas"
)

// crdsStep is the step of the engine that comes before all layers: definitions and
// namespaces, which others need, and which outlive the addon that brought them.
const crdsStep = "crds"

// arrangement is a tree in the making.
type arrangement struct {
	engine   engine
	files    []File
	steps    []string // names of the engine's steps that have something, in their order
	owners   map[manifest.ID]string
	problems diag.List
}

// Arrange lays out the objects of addons: each object in one place. Without an
// engine, everything is what apply keeps.
func Arrange(addons []Addon, s Settings) ([]File, error) {
	sorted, steps, err := order(addons)
	if err != nil {
		return nil, err
	}
	for i := range sorted {
		if sorted[i].Objects, err = normalized(sorted[i]); err != nil {
			return nil, err
		}
	}
	a := &arrangement{engine: engineOf(s), owners: map[manifest.ID]string{}}
	if err := addNamespaces(sorted, a.engine.namespace); err != nil {
		return nil, err
	}
	var watched []Addon
	for _, addon := range sorted {
		a.claim(addon)
		kept, rest := addon.divide(a.engine)
		a.bootstrap(kept)
		if len(rest.Objects) > 0 {
			watched = append(watched, rest)
		}
	}
	a.definitions(watched)
	a.layers(watched, steps)
	switch s.Engine {
	case schemas.Flux:
		a.flux(s)
	case schemas.ArgoCD:
		a.argoCD(s, watched)
	}
	sorting.By(a.files, func(x, y File) int { return cmp.Compare(x.Path, y.Path) })
	return a.files, a.problems.Err()
}

// divide tells the objects that apply keeps from those that the engine runs, if there
// is one at all.
func (x Addon) divide(e engine) (kept, rest Addon) {
	kept, rest = x, x
	kept.Objects, rest.Objects = nil, nil
	for _, o := range x.Objects {
		if x.Layer == catalogue.Bootstrap || e.name == "" || x.Applied && o.IsBuiltIn() || e.blind && holdsSecret(plainData(o)) {
			kept.Objects = append(kept.Objects, o)
		} else {
			rest.Objects = append(rest.Objects, o)
		}
	}
	return kept, rest
}

// claim notes whose an object is.
func (a *arrangement) claim(addon Addon) {
	for _, o := range addon.Objects {
		id := o.ID()
		switch first, taken := a.owners[id]; {
		case !taken:
			a.owners[id] = addon.Name
		case first == addon.Name:
			a.problems.Add(diag.On("addon "+addon.Name, "has the object %s twice", id))
		default:
			a.problems.Add(diag.On("object "+id.String(), "belongs to two addons, %s and %s", first, addon.Name).
				WithHint("turn one of them off, or take the object out of one with a kustomization in envs/<env>/addons/<addon>"))
		}
	}
}

// bootstrap writes an addon that apply keeps.
func (a *arrangement) bootstrap(addon Addon) {
	dir := path.Join(BootstrapDir, addon.Name)
	var crds, rest []manifest.Object
	for _, o := range addon.Objects {
		if o.IsDefinition() {
			crds = append(crds, o)
		} else {
			rest = append(rest, o)
		}
	}
	a.add(path.Join(dir, "crds.yaml"), addon.Name, crds)
	a.objects(dir, addon.Name, rest, Operator)
}

// definitions writes what the engine needs before everything else.
func (a *arrangement) definitions(addons []Addon) {
	dir := path.Join(AddonsDir, crdsStep)
	var resources []any
	var namespaces []manifest.Object
	for _, addon := range addons {
		var crds []manifest.Object
		for _, o := range addon.Objects {
			switch {
			case o.IsDefinition():
				crds = append(crds, a.engine.kept(o))
			case isNamespace(o):
				namespaces = append(namespaces, a.engine.kept(o))
			}
		}
		if a.add(path.Join(dir, addon.Name+".yaml"), addon.Name, crds) {
			resources = append(resources, addon.Name+".yaml")
		}
	}
	manifest.Sort(namespaces)
	if a.add(path.Join(dir, "namespaces.yaml"), "", namespaces) {
		resources = append([]any{"namespaces.yaml"}, resources...)
	}
	a.step(crdsStep, resources)
}

// layers writes the layers, each in as many steps as addons in it wait for each
// other.
func (a *arrangement) layers(addons []Addon, steps map[string]int) {
	for len(addons) > 0 {
		layer, step := addons[0].Layer, steps[addons[0].Name]
		n := slices.IndexFunc(addons, func(x Addon) bool { return x.Layer != layer || steps[x.Name] != step })
		if n < 0 {
			n = len(addons)
		}
		name := string(layer)
		if step > 1 {
			name += "-" + strconv.Itoa(step)
		}
		var resources []any
		for _, addon := range addons[:n] {
			if a.addon(path.Join(AddonsDir, name, addon.Name), addon) {
				resources = append(resources, addon.Name)
			}
		}
		a.step(name, resources)
		addons = addons[n:]
	}
}

// addon writes an addon that the engine runs.
func (a *arrangement) addon(dir string, addon Addon) bool {
	var objects []manifest.Object
	for _, o := range addon.Objects {
		switch {
		case o.IsDefinition() || isNamespace(o):
		case addon.Keep:
			objects = append(objects, a.engine.kept(o))
		default:
			objects = append(objects, a.engine.run(o))
		}
	}
	return a.kustomization(dir, a.objects(dir, addon.Name, objects, Cluster))
}

// objects writes objects, each Secret into a file of its own, and returns the
// names of the files.
func (a *arrangement) objects(dir, addon string, objects []manifest.Object, secrets Domain) (names []any) {
	var plain []manifest.Object
	var hidden []File
	taken := map[string]bool{}
	for _, o := range objects {
		o = plainData(o)
		if !holdsSecret(o) {
			plain = append(plain, o)
			continue
		}
		name := "secret-" + o.Name() + ".yaml"
		if taken[name] {
			name = "secret-" + o.Namespace() + "-" + o.Name() + ".yaml"
		}
		taken[name] = true
		hidden = append(hidden, File{Path: path.Join(dir, name), Domain: secrets, Objects: []manifest.Object{o}, Addon: addon})
	}
	if a.add(path.Join(dir, "manifests.yaml"), addon, plain) {
		names = append(names, "manifests.yaml")
	}
	sorting.By(hidden, func(x, y File) int { return cmp.Compare(x.Path, y.Path) })
	for _, f := range hidden {
		a.files = append(a.files, f)
		names = append(names, path.Base(f.Path))
	}
	return names
}

// add writes a file, unless it would be empty.
func (a *arrangement) add(file, addon string, objects []manifest.Object) bool {
	if len(objects) == 0 {
		return false
	}
	manifest.Sort(objects)
	a.files = append(a.files, File{Path: file, Objects: objects, Addon: addon})
	return true
}

// step writes the list of what is in a step of the engine.
func (a *arrangement) step(name string, resources []any) {
	if a.kustomization(path.Join(AddonsDir, name), resources) {
		a.steps = append(a.steps, name)
	}
}

// kustomization writes the list of what is in a directory.
func (a *arrangement) kustomization(dir string, resources []any) bool {
	if len(resources) == 0 {
		return false
	}
	a.files = append(a.files, File{Path: path.Join(dir, "kustomization.yaml"), Objects: []manifest.Object{{
		"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources,
	}}})
	return true
}
