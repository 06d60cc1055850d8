package kubesim

import (
	"net/http"
	"slices"
	"strings"

	discovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is a kind of object that the API serves.
type kind struct {
	schema.GroupVersionKind

	resource   string // nodes
	namespaced bool
}

// builtin are the kinds of Kubernetes that clusters of talosgen use: group and
// version, then resource and kind, with a * if objects have no namespace.
var builtin = parseKinds(`
v1 nodes Node* namespaces Namespace* persistentvolumes PersistentVolume* pods Pod services Service secrets Secret
v1 configmaps ConfigMap serviceaccounts ServiceAccount endpoints Endpoints events Event persistentvolumeclaims PersistentVolumeClaim
apps/v1 deployments Deployment daemonsets DaemonSet statefulsets StatefulSet replicasets ReplicaSet
batch/v1 jobs Job cronjobs CronJob
policy/v1 poddisruptionbudgets PodDisruptionBudget
rbac.authorization.k8s.io/v1 roles Role rolebindings RoleBinding clusterroles ClusterRole* clusterrolebindings ClusterRoleBinding*
coordination.k8s.io/v1 leases Lease
storage.k8s.io/v1 storageclasses StorageClass* csidrivers CSIDriver* csinodes CSINode* volumeattributesclasses VolumeAttributesClass*
storage.k8s.io/v1beta1 volumeattributesclasses VolumeAttributesClass*
networking.k8s.io/v1 ingresses Ingress networkpolicies NetworkPolicy ingressclasses IngressClass* ipaddresses IPAddress* servicecidrs ServiceCIDR*
networking.k8s.io/v1beta1 ipaddresses IPAddress* servicecidrs ServiceCIDR*
scheduling.k8s.io/v1 priorityclasses PriorityClass*
certificates.k8s.io/v1 certificatesigningrequests CertificateSigningRequest*
apiextensions.k8s.io/v1 customresourcedefinitions CustomResourceDefinition*
apiregistration.k8s.io/v1 apiservices APIService*
admissionregistration.k8s.io/v1 validatingwebhookconfigurations ValidatingWebhookConfiguration* mutatingwebhookconfigurations MutatingWebhookConfiguration*
admissionregistration.k8s.io/v1 validatingadmissionpolicies ValidatingAdmissionPolicy* validatingadmissionpolicybindings ValidatingAdmissionPolicyBinding*
discovery.k8s.io/v1 endpointslices EndpointSlice
flowcontrol.apiserver.k8s.io/v1beta3 flowschemas FlowSchema*
certificates.k8s.io/v1alpha1 clustertrustbundles ClusterTrustBundle*
`)

func parseKinds(text string) (kinds []kind) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		words := strings.Fields(line)
		gv, err := schema.ParseGroupVersion(words[0])
		if err != nil {
			panic(err) // it stands above
		}
		for pair := range slices.Chunk(words[1:], 2) {
			name, clusterWide := strings.CutSuffix(pair[1], "*")
			kinds = append(kinds, kind{gv.WithKind(name), pair[0], !clusterWide})
		}
	}
	return kinds
}

// kinds returns what is served now: of its own kinds those that have not ended.
func (a *API) kinds() []kind {
	all := a.builtin()
	for _, o := range a.objects {
		if o.GetKind() == "CustomResourceDefinition" {
			all = append(all, definedBy(o)...)
		}
	}
	return all
}

// definedBy are the kinds that a CustomResourceDefinition brings.
func definedBy(crd *unstructured.Unstructured) (kinds []kind) {
	text := func(path ...string) string {
		s, _, _ := unstructured.NestedString(crd.Object, path...)
		return s
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		gvk := schema.GroupVersionKind{Group: text("spec", "group"), Version: name, Kind: text("spec", "names", "kind")}
		kinds = append(kinds, kind{gvk, text("spec", "names", "plural"), text("spec", "scope") != "Cluster"})
	}
	return kinds
}

// verbs are what can be done with every kind.
var verbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update"}

// discover answers which kinds there are: of the core for /api, else of groups;
// in the form that the client asks for.
func (a *API) discover(r *http.Request, core bool) any {
	if strings.Contains(r.Header.Get("Accept"), "as=APIGroupDiscoveryList") {
		return a.aggregated(core)
	}
	if core {
		return &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	}
	list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for _, gv := range a.groupVersions(false) {
		v := metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: gv.Version}
		i := slices.IndexFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == gv.Group })
		if i < 0 {
			list.Groups = append(list.Groups, metav1.APIGroup{Name: gv.Group, PreferredVersion: v})
			i = len(list.Groups) - 1
		}
		list.Groups[i].Versions = append(list.Groups[i].Versions, v)
	}
	return list
}

// groupVersions are those of the core, or all others, in order.
func (a *API) groupVersions(core bool) (all []schema.GroupVersion) {
	for _, k := range a.kinds() {
		if gv := k.GroupVersion(); (gv.Group == "") == core && !slices.Contains(all, gv) {
			all = append(all, gv)
		}
	}
	return all
}

func (a *API) aggregated(core bool) any {
	list := &discovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}}
	for _, gv := range a.groupVersions(core) {
		version := discovery.APIVersionDiscovery{Version: gv.Version, Freshness: discovery.DiscoveryFreshnessCurrent}
		for _, k := range a.kinds() {
			if k.GroupVersion() != gv {
				continue
			}
			scope := discovery.ScopeCluster
			if k.namespaced {
				scope = discovery.ScopeNamespace
			}
			version.Resources = append(version.Resources, discovery.APIResourceDiscovery{
				Resource: k.resource, Scope: scope, Verbs: verbs,
				ResponseKind: &metav1.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind},
			})
		}
		i := slices.IndexFunc(list.Items, func(g discovery.APIGroupDiscovery) bool { return g.Name == gv.Group })
		if i < 0 {
			list.Items = append(list.Items, discovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: gv.Group}})
			i = len(list.Items) - 1
		}
		list.Items[i].Versions = append(list.Items[i].Versions, version)
	}
	return list
}

// resources answers which kinds a version of a group has.
func (a *API) resources(gv schema.GroupVersion) any {
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	for _, k := range a.kinds() {
		if k.GroupVersion() != gv {
			continue
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: k.resource, Kind: k.Kind, Namespaced: k.namespaced, Verbs: verbs})
		if k.Kind == "Pod" {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: "pods/eviction", Group: "policy", Version: "v1", Kind: "Eviction", Namespaced: true, Verbs: []string{"create"},
			})
		}
	}
	return list
}
