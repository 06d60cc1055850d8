package render

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/rendered"
	"github.com/talosgen/talosgen/render/internal/graph"
	"github.com/talosgen/talosgen/render/internal/source"
	"github.com/talosgen/talosgen/render/internal/treecheck"
	"github.com/talosgen/talosgen/schemas"
)

// Picture is an environment, drawn.
type Picture = graph.Picture

// Become is what becomes of an object that a [Picture] shows.
type Become = graph.Become

// Graph draws an environment as its rendered tree describes it. It needs no
// keys, and refuses a tree that is not as a render wrote it.
func (r *Repo) Graph(env string) (*Picture, error) {
	if err := r.src.CheckLinks(env); err != nil {
		return nil, err
	}
	dir := path.Join(source.RenderedDir, env)
	if err := r.src.CheckRendered(env); err != nil {
		return nil, err
	}
	sub, err := fs.Sub(r.src.Files, dir)
	if err != nil {
		return nil, err
	}
	tree, err := rendered.Read(sub, dir, r.src.Process.Version)
	if err != nil {
		return nil, err
	}
	in := graph.Input{Environment: env, Dir: dir, Files: tree.Files}
	if in.Infrastructure, err = rendered.Infrastructure(dir, tree.Files); err != nil {
		return nil, err
	}
	if in.Talos, in.Kubernetes, err = versionsIn(dir, in.Infrastructure, tree.Files); err != nil {
		return nil, err
	}
	return graph.New(in)
}

// versionsIn are the versions that the control planes are configured for, or
// else the first of the nodes.
func versionsIn(dir string, infra schemas.Infrastructure, files map[string][]byte) (talos, kubernetes string, err error) {
	role := map[string]string{}
	for _, s := range infra.Servers {
		role[s.Name] = s.Role
	}
	for _, m := range infra.Machines {
		role[m.Name] = m.Role
	}
	var chosen string
	for _, file := range slices.Sorted(maps.Keys(files)) {
		name, isNode := strings.CutPrefix(file, "nodes/")
		if !isNode {
			continue
		}
		isControlPlane := role[strings.TrimSuffix(name, ".yaml")] == schemas.RoleControlPlane
		if chosen == "" || isControlPlane {
			chosen = file
		}
		if isControlPlane {
			break
		}
	}
	if chosen == "" {
		return "", "", nil
	}
	talos, kubernetes, err = treecheck.Versions(files[chosen])
	if err != nil {
		return "", "", diag.New(diag.Pos{File: path.Join(dir, chosen)}, "cannot be read: %v", err).WithCause(err)
	}
	return talos, kubernetes, nil
}
