package ownership

import (
	"cmp"
	"maps"
	"path"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Kustomize returns what Flux applies from a directory: what its
// kustomization.yaml builds, or all manifests in it and below. The path is
// relative to the root of the repository.
type Kustomize func(path string) ([]manifest.Located, error)

const (
	groupKustomize = "kustomize.toolkit.fluxcd.io"
	groupHelm      = "helm.toolkit.fluxcd.io"
	groupSource    = "source.toolkit.fluxcd.io"
)

// OfFlux are the claims of every Kustomization and HelmRelease among the
// objects of a repository: of the directories that Kustomizations name, and of
// the charts that are known. Of a FluxInstance a Kustomization is made.
func OfFlux(objects []manifest.Located, kustomize Kustomize) ([]Claim, error) {
	var claims []Claim
	var problems diag.List
	plain := make([]manifest.Object, len(objects))
	for i, o := range objects {
		plain[i] = o.Object
	}
	scopes := manifest.NewScopes(plain...)
	for _, o := range objects {
		switch o.ID().Group + "/" + o.Kind() {
		case groupKustomize + "/Kustomization":
			found, err := ofKustomization(o, kustomize, scopes)
			problems.AddErr(err)
			claims = append(claims, found...)
		case "fluxcd.controlplane.io/FluxInstance":
			if o.Object = o.Synced(); o.Object == nil {
				continue
			}
			found, err := ofKustomization(o, kustomize, scopes)
			problems.AddErr(err)
			claims = append(claims, found...)
		case groupHelm + "/HelmRelease":
			claims = append(claims, ofRelease(o, objects)...)
		}
	}
	return claims, problems.Err()
}

func ofKustomization(o manifest.Located, kustomize Kustomize, scopes *manifest.Scopes) (claims []Claim, err error) {
	spec := manifest.Section(o.Object, "spec")
	owner := Owner{Kustomization, o.Namespace() + "/" + o.Name()}
	applied, err := kustomize(path.Clean(strings.TrimPrefix(manifest.Text(spec["path"]), "/")))
	for _, a := range applied {
		if target := manifest.Text(spec["targetNamespace"]); target != "" && scopes.Of(a.Object) != manifest.ClusterWide { // kustomize takes kinds that it does not know for such
			a.Object = inNamespace(a.Object, target)
		}
		if a.Object = substituted(a.Object, manifest.Section(spec, "postBuild")); unknownName(a.Object) {
			continue
		}
		claims = append(claims, OfObject(a.Object, Claim{Owner: owner, Pos: a.Pos})...)
	}
	return claims, err
}

// inNamespace is an object with another namespace.
func inNamespace(o manifest.Object, namespace string) manifest.Object {
	metadata := maps.Clone(manifest.Section(o, "metadata"))
	metadata["namespace"] = namespace
	return o.WithMetadata(metadata)
}

// ofRelease are the claims of a HelmRelease: that of its name among the
// releases of a namespace, and what its chart is known to bring.
func ofRelease(o manifest.Located, objects []manifest.Located) []Claim {
	spec := manifest.Section(o.Object, "spec")
	namespace := cmp.Or(manifest.Text(spec["targetNamespace"]), o.Namespace())
	name := cmp.Or(manifest.Text(spec["releaseName"]), releaseName(manifest.Text(spec["targetNamespace"]), o.Name()))
	c := Claim{Owner: Owner{HelmRelease, o.Namespace() + "/" + o.Name()}, Pos: o.Pos}
	release := c
	release.Thing = Thing{Object: manifest.ID{Kind: "Helm release", Namespace: namespace, Name: name}}
	values := manifest.Section(spec, "values")
	return append([]Claim{release}, chartClaims(chartName(spec, o.Namespace(), objects), namespace, values, c)...)
}

// releaseName is the name that helm-controller gives a release without one
// (HelmReleaseSpec.releaseName).
func releaseName(target, name string) string {
	if target != "" {
		return target + "-" + name
	}
	return name
}

// chartName is the chart that a HelmRelease installs: its own template's, or
// that of the source that it refers to.
func chartName(spec map[string]any, namespace string, objects []manifest.Located) string {
	if name := manifest.Text(manifest.Section(spec, "chart", "spec")["chart"]); name != "" {
		return path.Base(name)
	}
	ref := manifest.Section(spec, "chartRef")
	for _, o := range objects {
		id := o.ID()
		if id.Group != groupSource || id.Kind != manifest.Text(ref["kind"]) || id.Name != manifest.Text(ref["name"]) ||
			id.Namespace != cmp.Or(manifest.Text(ref["namespace"]), namespace) {
			continue
		}
		source := manifest.Section(o.Object, "spec")
		return path.Base(cmp.Or(manifest.Text(source["chart"]), manifest.Text(source["url"])))
	}
	return ""
}
