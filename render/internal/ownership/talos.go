package ownership

import (
	"slices"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

// Machine is the configuration of a control plane.
type Machine struct {
	File      string
	Documents []map[string]any
	// Reads the objects of inline manifests.
	Parse func(file string, text []byte) ([]manifest.Object, error)
}

// The objects of Talos' bootstrap manifests (internal/app/machined/pkg/
// controllers/k8s, manifest.go, of Talos 1.14.1). It makes what is absent, and
// `talosctl upgrade-k8s` makes all of them again.
var (
	talosAlways = []manifest.ID{
		{Group: rbac, Kind: "ClusterRoleBinding", Name: "system-bootstrap-approve-node-client-csr"},
		{Group: rbac, Kind: "ClusterRoleBinding", Name: "system-bootstrap-node-bootstrapper"},
		{Group: rbac, Kind: "ClusterRoleBinding", Name: "system-bootstrap-node-renewal"},
		{Group: rbac, Kind: "ClusterRole", Name: "system:talos-nodes"},
		{Group: rbac, Kind: "ClusterRoleBinding", Name: "system:talos-nodes"},
		{Kind: "ConfigMap", Namespace: kubeSystem, Name: "kubeconfig-in-cluster"},
	}
	talosFlannel = []manifest.ID{
		{Group: rbac, Kind: "ClusterRole", Name: "flannel"},
		{Group: rbac, Kind: "ClusterRoleBinding", Name: "flannel"},
		{Kind: "ServiceAccount", Namespace: kubeSystem, Name: "flannel"},
		{Kind: "ConfigMap", Namespace: kubeSystem, Name: "kube-flannel-cfg"},
		{Group: "apps", Kind: "DaemonSet", Namespace: kubeSystem, Name: "kube-flannel"},
	}
	talosProxy = []manifest.ID{
		{Group: rbac, Kind: "ClusterRoleBinding", Name: "kube-proxy"},
		{Kind: "ServiceAccount", Namespace: kubeSystem, Name: "kube-proxy"},
		{Group: "apps", Kind: "DaemonSet", Namespace: kubeSystem, Name: "kube-proxy"},
	}
	talosCoreDNS = []manifest.ID{
		{Group: rbac, Kind: "ClusterRole", Name: "system:coredns"},
		{Group: rbac, Kind: "ClusterRoleBinding", Name: "system:coredns"},
		{Kind: "ServiceAccount", Namespace: kubeSystem, Name: "coredns"},
		{Kind: "ConfigMap", Namespace: kubeSystem, Name: "coredns"},
		{Group: "apps", Kind: "Deployment", Namespace: kubeSystem, Name: "coredns"},
		{Kind: "Service", Namespace: kubeSystem, Name: "kube-dns"},
	}
	talosAccess = []manifest.ID{{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "serviceaccounts.talos.dev"}}
)

const (
	rbac       = "rbac.authorization.k8s.io"
	kubeSystem = "kube-system"
)

// OfTalos are the claims of the manifests that Talos itself applies: its own,
// inline ones, and external ones as far as their URL says what they are.
func OfTalos(m Machine) ([]Claim, error) {
	b := builtin(m.Documents)
	t := talos{machine: m, owner: Owner{Talos, ""}}
	t.ids("", "", talosAlways)
	if b.flannel {
		t.ids(CNI, "flannel", talosFlannel)
	}
	if b.proxy {
		t.ids(ServiceProxy, "kube-proxy", talosProxy)
	}
	if b.coreDNS {
		t.ids(ClusterDNS, "coredns", talosCoreDNS)
	}
	if b.access {
		t.ids("", "", talosAccess)
	}
	var problems diag.List
	for _, in := range b.inline {
		problems.AddErr(t.inline(in))
	}
	for _, url := range b.external {
		t.external(url)
	}
	return t.claims, problems.Err()
}

type talos struct {
	machine Machine
	owner   Owner
	claims  []Claim
}

func (t *talos) claim(owner Owner) Claim {
	return Claim{Owner: owner, Pos: diag.Pos{File: t.machine.File}}
}

func (t *talos) ids(role Role, player string, ids []manifest.ID) {
	c := t.claim(t.owner)
	if role != "" {
		c.Thing, c.Player = Thing{Role: role}, player
		t.claims = append(t.claims, c)
	}
	for _, id := range ids {
		c := t.claim(t.owner)
		c.Thing = Thing{Object: id}
		t.claims = append(t.claims, c)
	}
}

func (t *talos) inline(in named) error {
	objects, err := t.machine.Parse(t.machine.File+": inline manifest "+in.name, []byte(in.text))
	for _, o := range objects {
		t.claims = append(t.claims, OfObject(o, t.claim(Owner{Talos, "inline manifest " + in.name}))...)
	}
	return err
}

// external claims what a known project's manifest brings.
func (t *talos) external(url string) {
	c := t.claim(Owner{Talos, "manifest " + url})
	i := slices.IndexFunc(charts, func(known chart) bool {
		return slices.ContainsFunc(known.names, func(name string) bool { return strings.Contains(url, name) })
	})
	switch {
	case i >= 0:
		t.claims = append(t.claims, chartClaims(charts[i].names[0], kubeSystem, nil, c)...)
	case strings.Contains(url, "gateway-api"):
		t.claims = append(t.claims, chartClaims("gateway-api-crds", "", nil, c)...)
	}
}

// OfObject are the claims of somebody who has an object: the object itself, and
// the parts that it plays.
func OfObject(o manifest.Object, by Claim) []Claim {
	c := by
	c.Thing = Thing{Object: o.ID()}
	return append([]Claim{c}, roleClaims(o, by)...)
}
