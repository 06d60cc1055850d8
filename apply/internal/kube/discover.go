package kube

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/restmapper"

	kubeplan "github.com/talosgen/talosgen/apply/plan/kube"
	"github.com/talosgen/talosgen/internal/diag"
)

// kinds are the kinds that an API serves.
type kinds struct {
	mapper meta.RESTMapper
	// Groups whose own servers do not answer now: what they serve is not known.
	stale map[string]bool
}

// discover asks what the API serves, by two requests. An answer that does not say that
// is an error: to client-go an API without a core group is one with a few kinds less.
func (c *Client) discover(ctx context.Context) (*kinds, error) {
	groups, resources, failed, err := c.served.GroupsAndMaybeResourcesWithContext(ctx)
	if err != nil {
		return nil, refusal(http.MethodGet, "/apis", err)
	}
	if resources[schema.GroupVersion{Version: "v1"}] == nil {
		return nil, diag.On("Kubernetes API", "does not say which kinds it serves").WithCode(diag.Remote).
			WithHint("something on the way to it may have answered in its place: run the same command again")
	}
	k := &kinds{mapper: restmapper.NewDiscoveryRESTMapper(groupResources(groups, resources)), stale: map[string]bool{}}
	for version := range failed {
		k.stale[version.Group] = true
	}
	return k, nil
}

// groupResources are the kinds of groups as a mapper wants them.
func groupResources(groups *metav1.APIGroupList, resources map[schema.GroupVersion]*metav1.APIResourceList) (all []*restmapper.APIGroupResources) {
	for _, group := range groups.Groups {
		of := &restmapper.APIGroupResources{Group: group, VersionedResources: map[string][]metav1.APIResource{}}
		for _, version := range group.Versions {
			if list := resources[schema.GroupVersion{Group: group.Name, Version: version.Version}]; list != nil {
				of.VersionedResources[version.Version] = list.APIResources
			}
		}
		all = append(all, of)
	}
	return all
}

// of is where an object of Git is.
func (k *kinds) of(o kubeplan.Object) (resource, bool) {
	version, err := schema.ParseGroupVersion(o.APIVersion())
	if err != nil {
		return resource{}, false
	}
	return k.find(version.WithKind(o.Kind()).GroupKind(), version.Version)
}

// ofID is where an object is whose version is not known: in the version that the API
// prefers.
func (k *kinds) ofID(id kubeplan.ID) (resource, bool) {
	return k.find(schema.GroupKind{Group: id.Group, Kind: id.Kind})
}

func (k *kinds) find(kind schema.GroupKind, versions ...string) (resource, bool) {
	mapping, err := k.mapper.RESTMapping(kind, versions...)
	if err != nil {
		return resource{}, false
	}
	return resource{mapping.Resource, mapping.Scope.Name() == meta.RESTScopeNameNamespace}, true
}

// known refuses to take a group that cannot be asked for one that is not there.
func (k *kinds) known(group string) error {
	if !k.stale[group] {
		return nil
	}
	return diag.On("Kubernetes API", "what serves the group %s does not answer, so its objects are unknown", group).
		WithHint("look at its APIService, and at the service that that names").WithCode(diag.Remote)
}
