package kubesim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/talosgen/talosgen/internal/kubelifecycle"
	"github.com/talosgen/talosgen/internal/versions"
)

// ends are the minor versions of Kubernetes 1 with which some of its kinds end.
var ends = func() map[schema.GroupVersionKind]int {
	all := map[schema.GroupVersionKind]int{}
	for _, k := range builtin {
		if e, known := kubelifecycle.Of(k.GroupVersionKind); known {
			all[k.GroupVersionKind] = e.In
		}
	}
	return all
}()

// builtin are the kinds of Kubernetes that this version serves.
func (a *API) builtin() []kind {
	minor := versions.Minor(a.version)
	return slices.DeleteFunc(slices.Clone(builtin), func(k kind) bool { in := ends[k.GroupVersionKind]; return in > 0 && in <= minor })
}

// count notes that somebody has asked for a version of a kind that ends.
func (a *API) count(k kind) {
	if in := ends[k.GroupVersionKind]; in > 0 {
		a.asked[fmt.Sprintf("apiserver_requested_deprecated_apis{group=%q,removed_release=\"1.%d\",resource=%q,subresource=\"\",version=%q} 1\n", k.Group, in, k.resource, k.Version)] = true
	}
}

// metrics are what is counted.
func (a *API) metrics() string {
	return "# TYPE apiserver_requested_deprecated_apis gauge\n" + strings.Join(slices.Sorted(maps.Keys(a.asked)), "")
}
