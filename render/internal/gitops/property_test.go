package gitops

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/schemas"
)

// randomAddons are addons that depend on some before them, in random order.
func randomAddons(r *rand.Rand) []Addon {
	var all []Addon
	for i := range 1 + r.IntN(12) {
		a := Addon{Name: fmt.Sprintf("a%d", i), Layer: layers[r.IntN(len(layers))], Namespace: fmt.Sprintf("ns%d", r.IntN(3)), Applied: r.IntN(4) == 0}
		for _, before := range all {
			if r.IntN(3) == 0 && rank(before.Layer) <= rank(a.Layer) {
				a.DependsOn = append(a.DependsOn, before.Name)
			}
		}
		for j := range r.IntN(5) {
			kind := [][2]string{{"v1", "Secret"}, {"v1", "ConfigMap"}, {"apps/v1", "Deployment"}, {"apiextensions.k8s.io/v1", "CustomResourceDefinition"}}[r.IntN(4)]
			a.Objects = append(a.Objects, manifest.Object{
				"apiVersion": kind[0], "kind": kind[1], "data": map[string]any{"a": "YQ=="},
				"metadata": map[string]any{"name": fmt.Sprintf("%s-%d", a.Name, j), "namespace": a.Namespace},
			})
		}
		all = append(all, a)
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// Whatever addons there are: each object is in one file, Secrets are alone and
// encrypted, every file that Flux is to run is listed, and nothing comes up
// before what it depends on.
func TestArrangeProperties(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		addons := randomAddons(r)
		engine := []string{schemas.Flux, schemas.NoEngine}[r.IntN(2)]
		s := Settings{GitOps: schemas.GitOps{Engine: engine, Path: "rendered/x"}}
		files, err := Arrange(addons, s)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkObjects(t, seed, addons, files)
		checkListed(t, seed, files)
		checkDependencies(t, seed, addons, files)
		r.Shuffle(len(addons), func(i, j int) { addons[i], addons[j] = addons[j], addons[i] })
		again, err := Arrange(addons, s)
		if err != nil || listing(t, again) != listing(t, files) {
			t.Fatalf("seed %d: the order of the addons makes a difference: %v", seed, err)
		}
	}
}

func checkObjects(t *testing.T, seed uint64, addons []Addon, files []File) {
	t.Helper()
	count := map[manifest.ID]int{}
	for _, f := range files {
		for _, o := range f.Objects {
			count[o.ID()]++
			secret := holdsSecret(o)
			if secret != (f.Domain != Plain) || secret && len(f.Objects) > 1 {
				t.Fatalf("seed %d: %s in %s, domain %d", seed, o.ID(), f.Path, f.Domain)
			}
			if strings.HasPrefix(f.Path, BootstrapDir+"/") == (f.Domain == Cluster) && secret {
				t.Fatalf("seed %d: %s is for the wrong readers", seed, f.Path)
			}
		}
	}
	for _, a := range addons {
		ids := []manifest.ID{{Kind: "Namespace", Name: a.Namespace}}
		for _, o := range a.Objects {
			ids = append(ids, o.ID())
		}
		for _, id := range ids {
			if count[id] != 1 {
				t.Fatalf("seed %d: %s is there %d times", seed, id, count[id])
			}
		}
	}
}

// checkListed follows the lists from what Flux is told to watch.
func checkListed(t *testing.T, seed uint64, files []File) {
	t.Helper()
	byPath := map[string]File{}
	for _, f := range files {
		byPath[f.Path] = f
	}
	reached := map[string]bool{}
	var follow func(at string)
	follow = func(at string) {
		if f, ok := byPath[at]; ok && !strings.HasSuffix(at, "kustomization.yaml") {
			if reached[at] {
				t.Fatalf("seed %d: %s is listed twice", seed, at)
			}
			reached[f.Path] = true
			return
		}
		list, ok := byPath[path.Join(at, "kustomization.yaml")]
		if !ok {
			t.Fatalf("seed %d: there is no %s", seed, at)
		}
		resources, _ := list.Objects[0]["resources"].([]any)
		for _, r := range resources {
			follow(path.Join(at, r.(string)))
		}
	}
	for _, o := range byPath["flux/manifests.yaml"].Objects {
		if o.Kind() == "Kustomization" {
			dir, _ := asMap(o["spec"])["path"].(string)
			follow(strings.TrimPrefix(dir, "./rendered/x/"))
		}
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Path, BootstrapDir+"/") && path.Base(f.Path) != "kustomization.yaml" && !reached[f.Path] {
			t.Fatalf("seed %d: nobody watches %s", seed, f.Path)
		}
	}
}

// checkDependencies compares the steps of addons that depend on each other.
func checkDependencies(t *testing.T, seed uint64, addons []Addon, files []File) {
	t.Helper()
	var steps []string // in the order in which they wait for each other
	before := map[string]string{}
	for _, f := range files {
		for _, o := range f.Objects {
			if o.Kind() != "Kustomization" || o.Name() == Name || o.Namespace() == "" {
				continue
			}
			depends, _ := asMap(o["spec"])["dependsOn"].([]any)
			first := ""
			if len(depends) == 1 {
				first, _ = asMap(depends[0])["name"].(string)
			}
			before[first] = strings.TrimPrefix(o.Name(), Name+"-")
		}
	}
	for at := ""; before[at] != ""; at = Name + "-" + before[at] {
		steps = append(steps, before[at])
	}
	place := map[string]int{}
	for _, f := range files {
		if parts := strings.Split(f.Path, "/"); len(parts) == 4 && parts[0] == AddonsDir {
			place[parts[2]] = 1 + slices.Index(steps, parts[1])
		}
	}
	for _, a := range addons {
		for _, name := range a.DependsOn {
			other := addons[slices.IndexFunc(addons, func(x Addon) bool { return x.Name == name })]
			if place[a.Name] > 0 && place[name] >= place[a.Name] && other.Layer != catalogue.Bootstrap {
				t.Fatalf("seed %d: %s comes up with or before %s", seed, a.Name, name)
			}
		}
	}
}
