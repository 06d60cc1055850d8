package graph

import (
	"cmp"
	"path"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/followed"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/render/internal/gitops"
)

// argoApplication is the kind by which Argo CD is told what to run.
const argoApplication = "Application"

// argoObjects are the Applications of Argo CD that talosgen makes: the one that all
// others come from is kept by talosgen.
func (b *builder) argoObjects() (root, others []manifest.Object, err error) {
	for _, dir := range []string{path.Join(gitops.BootstrapDir, gitops.ArgoDir), gitops.ArgoDir} {
		name := path.Join(dir, "manifests.yaml")
		data, ok := b.in.Files[name]
		if !ok {
			continue
		}
		objects, err := manifest.Parse(b.file(name), data)
		if err != nil {
			return nil, nil, err
		}
		for _, o := range objects {
			switch {
			case o.Kind() != argoApplication:
			case dir == gitops.ArgoDir:
				others = append(others, o)
			default:
				root = append(root, o)
			}
		}
	}
	return root, others, nil
}

// argoRepository is the repository that Argo CD follows.
func argoRepository(o manifest.Object) Card {
	return repository(manifest.Object{
		"metadata": map[string]any{"name": o.Name()},
		"spec": map[string]any{
			"url": o.Text("spec", "source", "repoURL"),
			"ref": map[string]any{"branch": o.Text("spec", "source", "targetRevision")},
		},
	})
}

// argoSteps are the steps among Applications, each after the wave before.
func argoSteps(objects []manifest.Object, place followed.Tree) (steps []step) {
	wave := func(o manifest.Object) int {
		n, _ := strconv.Atoi(o.Text("metadata", "annotations", "argocd.argoproj.io/sync-wave"))
		return n
	}
	sorting.By(objects, func(a, b manifest.Object) int { return cmp.Or(wave(a)-wave(b), strings.Compare(a.Name(), b.Name())) })
	for _, o := range objects {
		s := step{name: stepOf(o.Text("spec", "source", "path"), place)}
		if s.name == "" {
			continue
		}
		if len(steps) > 0 {
			s.after = []string{steps[len(steps)-1].name}
		}
		steps = append(steps, s)
	}
	return steps
}
