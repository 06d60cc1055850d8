package gitops

import (
	"cmp"
	"slices"

	"github.com/talosgen/talosgen/internal/manifest"
)

// early and late are the kinds that come before and after all others, so that
// whoever reads a file meets first what others need.
var (
	early = []string{
		"Namespace", "PriorityClass", "NetworkPolicy", "ServiceAccount", "Secret", "ConfigMap", "StorageClass", "PersistentVolumeClaim",
		"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service", "DaemonSet", "Deployment", "StatefulSet",
	}
	late = []string{"APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
)

// sortObjects orders objects by kind as they depend on each other, then by name.
func sortObjects(objects []manifest.Object) {
	order := func(kind string) int {
		if i := slices.Index(early, kind); i >= 0 {
			return i
		}
		return len(early) + 1 + slices.Index(late, kind)
	}
	slices.SortStableFunc(objects, func(a, b manifest.Object) int {
		x, y := a.ID(), b.ID()
		return cmp.Or(cmp.Compare(order(x.Kind), order(y.Kind)), cmp.Compare(x.Group, y.Group), cmp.Compare(x.Kind, y.Kind),
			cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
}
