package kubesim

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// operator is a workload that defines kinds of its own once it runs, so that no
// manifest has their definitions.
type operator struct {
	kind, name string // in any namespace
	defines    []kind
}

// operators are those that addons of the catalogue rely on.
var operators = []operator{
	{"Deployment", "cilium-operator", parseKinds(`
cilium.io/v2 ciliumnetworkpolicies CiliumNetworkPolicy ciliumclusterwidenetworkpolicies CiliumClusterwideNetworkPolicy*
cilium.io/v2 ciliumendpoints CiliumEndpoint ciliumidentities CiliumIdentity* ciliumnodes CiliumNode* ciliumcidrgroups CiliumCIDRGroup*
cilium.io/v2 ciliumegressgatewaypolicies CiliumEgressGatewayPolicy* ciliumlocalredirectpolicies CiliumLocalRedirectPolicy
cilium.io/v2 ciliumenvoyconfigs CiliumEnvoyConfig ciliumclusterwideenvoyconfigs CiliumClusterwideEnvoyConfig*
cilium.io/v2 ciliumloadbalancerippools CiliumLoadBalancerIPPool* ciliumnodeconfigs CiliumNodeConfig
cilium.io/v2 ciliumbgpclusterconfigs CiliumBGPClusterConfig* ciliumbgppeerconfigs CiliumBGPPeerConfig*
cilium.io/v2 ciliumbgpadvertisements CiliumBGPAdvertisement* ciliumbgpnodeconfigs CiliumBGPNodeConfig*
cilium.io/v2alpha1 ciliuml2announcementpolicies CiliumL2AnnouncementPolicy* ciliumpodippools CiliumPodIPPool*
`)},
}

// talosAccounts is the kind by which pods get access to the Talos API: Talos
// defines it, where the machine configuration of control planes allows that.
var talosAccounts = parseKinds("talos.dev/v1alpha1 serviceaccounts ServiceAccount")

// operate defines what operators that run by now define, and Talos.
func (a *API) operate(c Cluster) {
	if c.TalosAccess {
		a.define(talosAccounts...)
	}
	for _, o := range slices.Clone(a.objects) {
		i := slices.IndexFunc(operators, func(op operator) bool { return op.kind == o.GetKind() && op.name == o.GetName() })
		if i >= 0 && a.ready(idOf(o)) && c.Ready > 0 {
			a.define(operators[i].defines...)
		}
	}
}

// define makes the definitions of kinds that have none.
func (a *API) define(kinds ...kind) {
	for _, k := range kinds {
		name := k.resource + "." + k.Group
		if a.index("CustomResourceDefinition", "", name) >= 0 {
			continue
		}
		a.store(definition(k))
	}
}

// definition is what defines a kind, established.
func definition(k kind) *unstructured.Unstructured {
	scope := "Cluster"
	if k.namespaced {
		scope = "Namespaced"
	}
	o := &unstructured.Unstructured{Object: object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": k.resource + "." + k.Group},
		"spec": object{
			"group": k.Group, "scope": scope, "names": object{"kind": k.Kind, "plural": k.resource},
			"versions": []any{object{"name": k.Version, "served": true, "storage": true}},
		},
	}}
	o.Object["status"] = established(o)
	return o
}
