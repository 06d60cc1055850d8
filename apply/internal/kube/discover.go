package kube

import (
	"context"
	"net/http"
	"net/url"

	discovery "k8s.io/api/apidiscovery/v2"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
)

// acceptDiscovery asks for all kinds in one answer.
const acceptDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// resource is where the objects of a kind are.
type resource struct {
	base       string // /api/v1 or /apis/<group>/<version>
	name       string // deployments
	namespaced bool
}

// path is that of an object, or, without a name, of all in a namespace, or,
// without that too, of all.
func (r resource) path(namespace, name string) string {
	path := r.base
	if r.namespaced && namespace != "" {
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	path += "/" + r.name
	if name != "" {
		path += "/" + url.PathEscape(name)
	}
	return path
}

// kinds are the kinds that an API serves.
type kinds struct {
	// By kind, group and version, as [kubeplan.Served] names them.
	exact map[string]resource
	// By kind and group: of the version that the API prefers.
	preferred map[kindGroup]resource
	// Groups whose own servers do not answer now: what they serve is not known.
	stale map[string]bool
}

type kindGroup struct{ kind, group string }

// discover asks what the API serves.
func (c *Client) discover(ctx context.Context) (*kinds, error) {
	k := &kinds{exact: map[string]resource{}, preferred: map[kindGroup]resource{}, stale: map[string]bool{}}
	for _, path := range []string{"/api", "/apis"} {
		var list discovery.APIGroupDiscoveryList
		if err := c.send(ctx, request{method: http.MethodGet, path: path, accept: acceptDiscovery}, &list); err != nil {
			return nil, err
		}
		for _, group := range list.Items {
			for _, version := range group.Versions {
				k.add(path, group.Name, version)
			}
		}
	}
	return k, nil
}

func (k *kinds) add(path, group string, version discovery.APIVersionDiscovery) {
	full, base := version.Version, path+"/"+version.Version
	if group != "" {
		full, base = group+"/"+version.Version, path+"/"+group+"/"+version.Version
	}
	if version.Freshness == discovery.DiscoveryFreshnessStale {
		k.stale[group] = true
	}
	for _, r := range version.Resources {
		if r.ResponseKind == nil || r.ResponseKind.Kind == "" {
			continue
		}
		found := resource{base: base, name: r.Resource, namespaced: r.Scope == discovery.ScopeNamespace}
		k.exact[r.ResponseKind.Kind+"."+full] = found
		if of := (kindGroup{r.ResponseKind.Kind, group}); k.preferred[of].name == "" {
			k.preferred[of] = found
		}
	}
}

// of is where an object of Git is.
func (k *kinds) of(o kubeplan.Object) (resource, bool) {
	r, found := k.exact[kubeplan.Served(o)]
	return r, found
}

// ofID is where an object is whose version is not known.
func (k *kinds) ofID(id kubeplan.ID) (resource, bool) {
	r, found := k.preferred[kindGroup{id.Kind, id.Group}]
	return r, found
}

// known refuses to take a group that cannot be asked for one that is not there.
func (k *kinds) known(group string) error {
	if !k.stale[group] {
		return nil
	}
	return diag.On("Kubernetes API", "what serves the group %s does not answer, so nobody knows what there is of it", group).
		WithHint("look at its APIService, and at the service that that names").WithCode(diag.Remote)
}
