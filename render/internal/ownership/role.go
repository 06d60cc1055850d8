package ownership

import (
	"slices"

	"github.com/talosgen/talosgen/internal/manifest"
)

// Role is a part that only one may play in a cluster.
type Role string

// The parts.
const (
	CNI             Role = "network plugin (CNI)"
	ServiceProxy    Role = "proxy of services"
	ClusterDNS      Role = "cluster DNS"
	CloudController Role = "cloud controller manager"
	CertApprover    Role = "approver of kubelet certificates"
	GitOps          Role = "Flux"
	ArgoCD          Role = "Argo CD"
)

// Roles lists the parts, the most dangerous one to have twice first.
var Roles = []Role{CNI, ServiceProxy, ClusterDNS, CloudController, CertApprover, GitOps, ArgoCD}

// signs are the objects by which a player is known, in any namespace.
var signs = []struct {
	kind, name string
	role       Role
	player     string
}{
	{"DaemonSet", "cilium", CNI, "cilium"},
	{"DaemonSet", "kube-flannel", CNI, "flannel"},
	{"DaemonSet", "kube-flannel-ds", CNI, "flannel"},
	{"DaemonSet", "calico-node", CNI, "calico"},
	{"Installation", "default", CNI, "calico"},
	{"DaemonSet", "antrea-agent", CNI, "antrea"},
	{"DaemonSet", "kube-ovn-cni", CNI, "kube-ovn"},
	{"DaemonSet", "weave-net", CNI, "weave"},
	{"DaemonSet", "kube-router", CNI, "kube-router"},
	{"DaemonSet", "kube-proxy", ServiceProxy, "kube-proxy"},
	{"Deployment", "coredns", ClusterDNS, "coredns"},
	{"Deployment", "kube-dns", ClusterDNS, "kube-dns"},
	{"Deployment", "hcloud-cloud-controller-manager", CloudController, "hcloud-cloud-controller-manager"},
	{"DaemonSet", "hcloud-cloud-controller-manager", CloudController, "hcloud-cloud-controller-manager"},
	{"Deployment", "kubelet-serving-cert-approver", CertApprover, "kubelet-serving-cert-approver"},
	{"Deployment", "kustomize-controller", GitOps, "flux"},
	{"FluxInstance", "flux", GitOps, "flux"},
	{"StatefulSet", "argocd-application-controller", ArgoCD, "argocd"},
}

// roleClaims are the claims of parts that an object makes for its owner.
func roleClaims(o manifest.Object, c Claim) (claims []Claim) {
	claim := func(role Role, player string) {
		claims = append(claims, Claim{Thing: Thing{Role: role}, Owner: c.Owner, Player: player, Pos: c.Pos})
	}
	for _, s := range signs {
		if s.kind == o.Kind() && s.name == o.Name() {
			claim(s.role, s.player)
		}
	}
	if o.Kind() == "ConfigMap" && o.Name() == "cilium-config" {
		data, _ := o["data"].(map[string]any)
		if data["kube-proxy-replacement"] == "true" {
			claim(ServiceProxy, "cilium")
		}
	}
	return claims
}

// chart is what a well-known Helm chart brings that others bring too.
type chart struct {
	names   []string // that it has in repositories
	roles   []Role
	player  string
	objects []manifest.ID // a namespace of "-" is that of the release
}

func crds(group string, plurals ...string) (ids []manifest.ID) {
	for _, plural := range plurals {
		ids = append(ids, manifest.ID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: plural + "." + group})
	}
	return ids
}

// charts are known because a HelmRelease does not say what it brings. The
// objects are those by which clusters break when two bring them.
var charts = []chart{
	{names: []string{"cilium"}, roles: []Role{CNI}, player: "cilium", objects: []manifest.ID{
		{Group: "apps", Kind: "DaemonSet", Namespace: "-", Name: "cilium"},
		{Group: "apps", Kind: "Deployment", Namespace: "-", Name: "cilium-operator"},
		{Kind: "ConfigMap", Namespace: "-", Name: "cilium-config"},
	}},
	{names: []string{"flannel"}, roles: []Role{CNI}, player: "flannel"},
	{names: []string{"tigera-operator"}, roles: []Role{CNI}, player: "calico"},
	{names: []string{"coredns"}, roles: []Role{ClusterDNS}, player: "coredns"},
	{names: []string{"hcloud-cloud-controller-manager"}, roles: []Role{CloudController}, player: "hcloud-cloud-controller-manager", objects: []manifest.ID{
		{Group: "apps", Kind: "Deployment", Namespace: "-", Name: "hcloud-cloud-controller-manager"},
	}},
	{names: []string{"hcloud-csi"}, objects: []manifest.ID{
		{Group: "storage.k8s.io", Kind: "CSIDriver", Name: "csi.hetzner.cloud"},
		{Group: "storage.k8s.io", Kind: "StorageClass", Name: "hcloud-volumes"},
	}},
	{names: []string{"kubelet-serving-cert-approver", "kubelet-csr-approver"}, roles: []Role{CertApprover}, player: "kubelet-serving-cert-approver"},
	{names: []string{"metrics-server"}, objects: []manifest.ID{
		{Group: "apiregistration.k8s.io", Kind: "APIService", Name: "v1beta1.metrics.k8s.io"},
		{Group: "apps", Kind: "Deployment", Namespace: "-", Name: "metrics-server"},
	}},
	{names: []string{"cert-manager"}, objects: crds("cert-manager.io", "certificaterequests", "certificates", "clusterissuers", "issuers")},
	{names: []string{"ingress-nginx"}, objects: []manifest.ID{{Group: "networking.k8s.io", Kind: "IngressClass", Name: "nginx"}}},
	{names: []string{"traefik", "traefik-crds"}, objects: crds("traefik.io", "ingressroutes", "middlewares")},
	{names: []string{"gateway-helm", "gateway-api-crds"}, objects: crds("gateway.networking.k8s.io", "gatewayclasses", "gateways", "httproutes")},
	{names: []string{"kube-prometheus-stack", "prometheus-operator-crds", "victoria-metrics-k8s-stack"},
		objects: crds("monitoring.coreos.com", "prometheuses", "servicemonitors", "podmonitors")},
	{names: []string{"external-secrets"}, objects: crds("external-secrets.io", "externalsecrets", "secretstores")},
	{names: []string{"sealed-secrets"}, objects: crds("bitnami.com", "sealedsecrets")},
	{names: []string{"longhorn"}, objects: []manifest.ID{{Group: "storage.k8s.io", Kind: "StorageClass", Name: "longhorn"}}},
	{names: []string{"flux2"}, roles: []Role{GitOps}, player: "flux", objects: crds("kustomize.toolkit.fluxcd.io", "kustomizations")},
	{names: []string{"argo-cd"}, roles: []Role{ArgoCD}, player: "argocd", objects: crds("argoproj.io", "applications", "appprojects")},
}

// chartClaims are what a release of a chart brings, as far as it is known.
func chartClaims(name, namespace string, values map[string]any, by Claim) (claims []Claim) {
	i := slices.IndexFunc(charts, func(c chart) bool { return slices.Contains(c.names, name) })
	if i < 0 {
		return nil
	}
	add := func(t Thing, player string) {
		claims = append(claims, Claim{Thing: t, Owner: by.Owner, Player: player, Pos: by.Pos})
	}
	for _, role := range charts[i].roles {
		add(Thing{Role: role}, charts[i].player)
	}
	if name == "cilium" && truth(values["kubeProxyReplacement"]) {
		add(Thing{Role: ServiceProxy}, "cilium")
	}
	for _, id := range charts[i].objects {
		if id.Kind == "CustomResourceDefinition" && withoutCRDs(values) {
			continue
		}
		if id.Namespace == "-" {
			id.Namespace = namespace
		}
		add(Thing{Object: id}, "")
	}
	return claims
}

func truth(v any) bool { return v == true || v == "true" }

// withoutCRDs tells whether the values of a chart switch its definitions off, in
// one of the ways that charts have.
func withoutCRDs(values map[string]any) bool {
	crds, _ := values["crds"].(map[string]any)
	return crds["enabled"] == false || crds["install"] == false || values["installCRDs"] == false
}
