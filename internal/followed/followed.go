// Package followed tells where a rendered tree is in the repository that Flux or Argo CD
// follows. That repository has the one of talosgen as a folder, or its trees in places of
// their own: gitops.path in cluster.yaml says so, and the objects of the engine do.
package followed

import (
	"path"
	"strings"

	"github.com/talosgen/talosgen/internal/manifest"
)

// Tree is a rendered tree, seen from two sides. The zero value is for manifests that are
// no rendered tree: both sides are one.
type Tree struct {
	dir  string // in the repository of talosgen: rendered/<env>
	path string // in the repository that is followed
}

// Of returns where a tree is followed, by the objects in it that tell Flux or Argo CD to
// follow all others. Without one, it is where talosgen has it.
func Of(dir string, objects []manifest.Object) Tree {
	for _, o := range objects {
		if root, found := rootOf(o); found {
			return Tree{dir: dir, path: root}
		}
	}
	return Tree{dir: dir, path: dir}
}

// Path returns where the tree is in the repository that is followed.
func (t Tree) Path() string { return t.path }

// rootOf is where the tree is that an object follows the engine's own directory of.
func rootOf(o manifest.Object) (root string, found bool) {
	if k := o.Synced(); k != nil {
		o = k
	}
	switch id := o.ID(); {
	case id.Group == "kustomize.toolkit.fluxcd.io" && id.Kind == "Kustomization":
		root, found = strings.CutSuffix(clean(o.Text("spec", "path")), "/flux")
	case id.Group == "argoproj.io" && id.Kind == "Application":
		root, found = strings.CutSuffix(clean(o.Text("spec", "source", "path")), "/argocd")
	}
	return root, found && root != ""
}

// clean is a path from the root of a repository, however it is written.
func clean(p string) string { return strings.TrimPrefix(path.Clean("/"+p), "/") }

// Below returns the path in the tree of what is at a path in the repository that is
// followed. What is not in the tree, or is the tree itself, has none.
func (t Tree) Below(p string) (name string, inside bool) {
	name, inside = strings.CutPrefix(clean(p), t.path+"/")
	return name, inside && t.path != ""
}

// Local returns where talosgen's repository has what is at a path in the repository that
// is followed. What is outside of talosgen's has no such place.
func (t Tree) Local(p string) (local string, known bool) {
	p = clean(p)
	if name, inside := t.Below(p); inside {
		return path.Join(t.dir, name), true
	}
	folder, within := strings.CutSuffix(t.path, t.dir)
	if !within {
		return "", false
	}
	return strings.CutPrefix(p, folder)
}
