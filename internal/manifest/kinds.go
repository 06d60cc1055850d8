package manifest

import "slices"

// resource is a kind that every Kubernetes API server has.
type resource struct {
	group, version, kind string
	cluster              bool // not in a namespace
	since                int  // minor version that serves it by default; 0: all that Talos 1.14 runs
}

// resources are the kinds of Kubernetes 1.32 and newer that are served without
// switching anything on, from the API reference of Kubernetes.
var resources = slices.Concat(
	namespaced("", "v1", "Binding", "ConfigMap", "Endpoints", "Event", "LimitRange", "PersistentVolumeClaim", "Pod", "PodTemplate",
		"ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount"),
	clusterWide("", "v1", "ComponentStatus", "Namespace", "Node", "PersistentVolume"),
	clusterWide("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy",
		"ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration"),
	since(36, clusterWide("admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")),
	clusterWide("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
	clusterWide("apiregistration.k8s.io", "v1", "APIService"),
	namespaced("apps", "v1", "ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
	clusterWide("authentication.k8s.io", "v1", "SelfSubjectReview", "TokenReview"),
	namespaced("authorization.k8s.io", "v1", "LocalSubjectAccessReview"),
	clusterWide("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"),
	namespaced("autoscaling", "v1", "HorizontalPodAutoscaler"),
	namespaced("autoscaling", "v2", "HorizontalPodAutoscaler"),
	namespaced("batch", "v1", "CronJob", "Job"),
	clusterWide("certificates.k8s.io", "v1", "CertificateSigningRequest"),
	namespaced("coordination.k8s.io", "v1", "Lease"),
	namespaced("discovery.k8s.io", "v1", "EndpointSlice"),
	namespaced("events.k8s.io", "v1", "Event"),
	clusterWide("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "PriorityLevelConfiguration"),
	namespaced("networking.k8s.io", "v1", "Ingress", "NetworkPolicy"),
	clusterWide("networking.k8s.io", "v1", "IngressClass"),
	since(33, clusterWide("networking.k8s.io", "v1", "IPAddress", "ServiceCIDR")),
	clusterWide("node.k8s.io", "v1", "RuntimeClass"),
	namespaced("policy", "v1", "Eviction", "PodDisruptionBudget"),
	namespaced("rbac.authorization.k8s.io", "v1", "Role", "RoleBinding"),
	clusterWide("rbac.authorization.k8s.io", "v1", "ClusterRole", "ClusterRoleBinding"),
	since(34, namespaced("resource.k8s.io", "v1", "ResourceClaim", "ResourceClaimTemplate")),
	since(34, clusterWide("resource.k8s.io", "v1", "DeviceClass", "ResourceSlice")),
	clusterWide("scheduling.k8s.io", "v1", "PriorityClass"),
	namespaced("storage.k8s.io", "v1", "CSIStorageCapacity"),
	clusterWide("storage.k8s.io", "v1", "CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"),
	since(34, clusterWide("storage.k8s.io", "v1", "VolumeAttributesClass")),
)

func namespaced(group, version string, kinds ...string) (all []resource) {
	for _, kind := range kinds {
		all = append(all, resource{group: group, version: version, kind: kind})
	}
	return all
}

func clusterWide(group, version string, kinds ...string) []resource {
	all := namespaced(group, version, kinds...)
	for i := range all {
		all[i].cluster = true
	}
	return all
}

func since(minor int, all []resource) []resource {
	for i := range all {
		all[i].since = minor
	}
	return all
}

func (r resource) apiVersion() string {
	if r.group == "" {
		return r.version
	}
	return r.group + "/" + r.version
}

// Served lists what Kubernetes 1.<minor> serves without custom resources, as
// charts ask for it: policy/v1 and policy/v1/PodDisruptionBudget. Sorted.
func Served(minor int) []string {
	var all []string
	for _, r := range resources {
		if r.since <= minor {
			all = append(all, r.apiVersion(), r.apiVersion()+"/"+r.kind)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
