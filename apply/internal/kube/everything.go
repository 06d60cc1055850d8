package kube

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/internal/sorting"
)

// ephemeral are kinds whose objects others make again and again by themselves, by the
// names of their resources: what a cluster is does not depend on them.
var ephemeral = []string{"events", "endpoints", "endpointslices", "componentstatuses", "controllerrevisions", "ciliumendpoints", "ciliumidentities"}

// Everything reads all objects of a cluster, but for those that come and go by
// themselves. It changes nothing. What is served by somebody who does not answer is in
// unseen; that nobody may list something is no error.
func Everything(ctx context.Context, c *Client) (found []manifest.Object, unseen []string, err error) {
	groups, resources, failed, err := c.served.GroupsAndMaybeResourcesWithContext(ctx)
	if err != nil {
		return nil, nil, refusal(http.MethodGet, "/apis", err)
	}
	for version := range failed {
		unseen = append(unseen, fmt.Sprintf("objects of %s: what serves them does not answer", version))
	}
	var mu sync.Mutex
	var jobs []func() error
	for _, r := range listed(groups, resources) {
		jobs = append(jobs, func() error {
			var own []manifest.Object
			err := c.in(r, "").list(ctx, metav1.ListOptions{}, func(object map[string]any) error {
				own = append(own, object)
				return nil
			})
			mu.Lock()
			defer mu.Unlock()
			found = append(found, own...)
			return err
		})
	}
	if err := inParallel(jobs); err != nil {
		return nil, nil, err
	}
	sorting.By(found, func(a, b manifest.Object) int { return cmp.Compare(a.ID().String(), b.ID().String()) })
	slices.Sort(unseen)
	return found, unseen, nil
}

// listed are the kinds that can be listed, each in the version that is preferred.
func listed(groups *metav1.APIGroupList, resources map[schema.GroupVersion]*metav1.APIResourceList) (all []resource) {
	for _, group := range groups.Groups {
		if group.Name == "metrics.k8s.io" {
			continue // measured, not kept
		}
		var known []string
		versions := append([]metav1.GroupVersionForDiscovery{group.PreferredVersion}, group.Versions...)
		for _, version := range versions {
			gv := schema.GroupVersion{Group: group.Name, Version: version.Version}
			if resources[gv] == nil {
				continue
			}
			for _, r := range resources[gv].APIResources {
				if strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") || slices.Contains(known, r.Name) || slices.Contains(ephemeral, r.Name) {
					continue
				}
				known = append(known, r.Name)
				all = append(all, resource{gv.WithResource(r.Name), r.Namespaced})
			}
		}
	}
	return all
}
