package kubetree

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// listed are the files that a kustomization.yaml lists. It may list, and nothing
// else: a render has made all changes already.
func (r *reader) listed(dir, file string, data []byte, above []string) (names []string) {
	var k map[string]any
	if err := yaml.Load(data, &k); err != nil {
		r.problems.Add(diag.New(diag.Pos{File: r.file(file)}, "cannot be read: %v", err).WithCause(err))
		return nil
	}
	for key := range k {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "resources"}, key) {
			r.problems.Add(diag.New(diag.Pos{File: r.file(file)}, "has %s, which changes objects on their way to the cluster", key).
				WithHint("a rendered kustomization.yaml lists resources only: make the change in the sources, and render again"))
		}
	}
	resources, _ := k["resources"].([]any)
	for _, entry := range resources {
		text, _ := entry.(string)
		name := path.Join(dir, text)
		switch {
		case r.tree.Files[name] != nil:
			names = append(names, name)
		case r.isDir(name):
			names = append(names, r.resources(name, above)...)
		default:
			r.problems.Add(diag.New(diag.Pos{File: r.file(file)}, "lists %q, which is not in the tree", text).
				WithHint("run `talosgen render %s`", r.tree.Env))
		}
	}
	return names
}

func (r *reader) isDir(name string) bool {
	for file := range r.tree.Files {
		if strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

// add adds an object of a Kustomization, or of talosgen.
func (r *reader) add(o manifest.Object, file string, stage kube.Stage, owner string, seed bool) {
	r.addItem(o, kube.Item{File: r.file(file), Stage: stage, Kustomization: owner, Seed: seed})
}

// addItem adds an object in its normal form.
func (r *reader) addItem(o manifest.Object, item kube.Item) {
	if r.tree.Normalize != nil {
		normal, err := r.tree.Normalize(o)
		if err != nil {
			var problems diag.List
			problems.AddErr(err)
			for _, p := range problems {
				p.Pos.File = item.File
			}
			r.problems.Add(problems...)
			return
		}
		o = normal
	}
	item.Object = o
	r.desired.Items = append(r.desired.Items, item)
}
