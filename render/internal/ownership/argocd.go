package ownership

import (
	"path"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// groupArgo is the group of Argo CD's kinds.
const groupArgo = "argoproj.io"

// OfArgoCD are the claims of every Application of Argo CD among the objects of a
// repository that runs directories of it in its own cluster. What is of another
// repository, or made by a chart or a plug-in, is not looked at.
func OfArgoCD(objects []manifest.Located, kustomize Kustomize) ([]Claim, error) {
	var claims []Claim
	var problems diag.List
	for _, o := range objects {
		if id := o.ID(); id.Group != groupArgo || id.Kind != "Application" {
			continue
		}
		owner := Owner{Application, o.Namespace() + "/" + o.Name()}
		for _, source := range argoSources(o.Object) {
			applied, err := kustomize(path.Clean(strings.TrimPrefix(manifest.Text(source["path"]), "/")))
			problems.AddErr(err)
			for _, a := range applied {
				claims = append(claims, OfObject(a.Object, Claim{Owner: owner, Pos: a.Pos})...)
			}
		}
	}
	return claims, problems.Err()
}

// argoSources are the directories that an Application runs as they are.
func argoSources(o manifest.Object) (all []map[string]any) {
	spec := manifest.Section(o, "spec")
	if server := manifest.Text(manifest.Section(spec, "destination")["server"]); server != "" && server != "https://kubernetes.default.svc" {
		return nil
	}
	for _, source := range append([]map[string]any{manifest.Section(spec, "source")}, manifest.Maps(spec["sources"])...) {
		made := slices.ContainsFunc([]string{"chart", "helm", "plugin", "directory"}, func(key string) bool { return source[key] != nil })
		if manifest.Text(source["path"]) != "" && !made {
			all = append(all, source)
		}
	}
	return all
}
