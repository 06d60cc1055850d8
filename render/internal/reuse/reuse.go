// Package reuse tells which parts of a rendered tree are made of the same sources as
// in the last render, and so need not be made again. It is pure: what it knows of
// the last render are the digests in its lock.
package reuse

import (
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/render/internal/layer"
)

// Sources are the sources of an environment, as the last render read them and as
// they are.
type Sources struct {
	Env     string
	Was, Is []rendered.Entry
	Nodes   []layer.NodeRef
	Layers  *layer.Layers // of the sources as they are
	// AddonPaths are the places in the repository that cluster.yaml names as sources
	// of addons.
	AddonPaths []string
}

// Parts tells of the parts of a tree whether their sources are the same.
type Parts struct {
	sources Sources
	changed map[string]bool
	before  *layer.Layers
}

// Compare compares the sources; nil if one differs that any part may depend on.
func Compare(s Sources) *Parts {
	p := &Parts{sources: s, changed: changed(s.Was, s.Is)}
	for file := range p.changed {
		if !s.isPatch(file) && !s.isOfAddons(file) {
			return nil
		}
	}
	paths := make([]string, len(s.Was))
	for i, e := range s.Was {
		paths[i] = e.Path
	}
	var err error
	if p.before, err = layer.Arrange(paths, s.Env, s.Nodes); err != nil {
		return nil // the last render would not have gone well
	}
	return p
}

// changed are the files that were added, removed or changed.
func changed(was, is []rendered.Entry) map[string]bool {
	differ := map[string]bool{}
	digests := make(map[string]string, len(was))
	for _, e := range was {
		digests[e.Path] = e.Digest
	}
	for _, e := range is {
		if digest, known := digests[e.Path]; !known || digest != e.Digest {
			differ[e.Path] = true
		}
		delete(digests, e.Path)
	}
	for file := range digests {
		differ[file] = true
	}
	return differ
}

// isPatch reports whether a file is in a place of machine patches: no part depends
// on it but the nodes that it applies to.
func (s *Sources) isPatch(file string) bool {
	return within(file, layer.PatchesDir) && !within(file, path.Join(layer.PatchesDir, layer.AddonsDir)) ||
		within(file, layer.InEnv(s.Env, layer.PatchesDir))
}

// isOfAddons reports whether a file is in a place of addons: no part depends on it
// but those.
func (s *Sources) isOfAddons(file string) bool {
	return within(file, layer.ChartsDir) || within(file, path.Join(layer.PatchesDir, layer.AddonsDir)) ||
		within(file, layer.InEnv(s.Env, layer.AddonsDir))
}

func within(file, dir string) bool { return strings.HasPrefix(file, dir+"/") }

// Node reports whether the patches of a node are the same.
func (p *Parts) Node(n layer.NodeRef) bool {
	if p == nil {
		return false
	}
	differs := func(l layer.Layer) bool {
		return slices.ContainsFunc(l.Files, func(file string) bool { return p.changed[file] })
	}
	return len(p.changed) == 0 || !slices.ContainsFunc(p.sources.Layers.For(n), differs) && !slices.ContainsFunc(p.before.For(n), differs)
}

// Addons reports whether the sources of addons are the same; autoscaled are the
// nodes whose configurations are among them.
func (p *Parts) Addons(autoscaled []layer.NodeRef) bool {
	switch {
	case p == nil:
		return false
	case len(p.changed) == 0:
		return true
	case !p.closed() || slices.ContainsFunc(autoscaled, func(n layer.NodeRef) bool { return !p.Node(n) }):
		return false
	}
	for file := range p.changed {
		if p.sources.isOfAddons(file) {
			return false
		}
	}
	return true
}

// kustomizations are the names of files that make a directory one that others can
// refer to, with all that is below it.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// closed reports whether addons are made of nothing but the files in their places,
// neither because cluster.yaml names another place, nor because a kustomization may
// refer to one.
func (p *Parts) closed() bool {
	elsewhere := func(file string) bool { return !p.sources.isOfAddons(file) }
	if slices.ContainsFunc(p.sources.AddonPaths, func(at string) bool { return elsewhere(path.Clean(at)) }) {
		return false
	}
	open := func(e rendered.Entry) bool {
		return slices.Contains(kustomizations, path.Base(e.Path)) && elsewhere(e.Path)
	}
	return !slices.ContainsFunc(p.sources.Was, open) && !slices.ContainsFunc(p.sources.Is, open)
}
