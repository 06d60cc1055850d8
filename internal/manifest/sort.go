package manifest

import (
	"cmp"
	"slices"

	"github.com/talosgen/talosgen/internal/sorting"
)

// early and late are the kinds that come before and after all others, so that
// whoever applies objects one by one, or reads them, meets first what others
// need. Webhooks come last: they would hold up all that comes after them.
var (
	early = []string{
		"Namespace", definition, "PriorityClass", "RuntimeClass", "ResourceQuota", "LimitRange", "NetworkPolicy",
		"ServiceAccount", "Secret", "ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim",
		"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service",
		"DaemonSet", "Deployment", "StatefulSet", "Job", "CronJob", "HorizontalPodAutoscaler", "PodDisruptionBudget",
		"IngressClass", "Ingress",
	}
	late = []string{"APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
)

// Sort orders objects: by kind as they depend on each other, then by group,
// kind, namespace and name.
func Sort(objects []Object) {
	sorting.By(objects, func(a, b Object) int {
		x, y := a.ID(), b.ID()
		return cmp.Or(
			cmp.Compare(order(x.Kind), order(y.Kind)),
			cmp.Compare(x.Group, y.Group),
			cmp.Compare(x.Kind, y.Kind),
			cmp.Compare(x.Namespace, y.Namespace),
			cmp.Compare(x.Name, y.Name))
	})
}

func order(kind string) int {
	if i := slices.Index(early, kind); i >= 0 {
		return i
	}
	return len(early) + 1 + slices.Index(late, kind) // -1 for others
}
