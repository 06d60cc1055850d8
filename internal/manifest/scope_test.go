package manifest

import (
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, text string) []Object {
	t.Helper()
	objects, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

const crds = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: issuers.cert-manager.io}
spec: {group: cert-manager.io, scope: Namespaced, names: {kind: Issuer}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterissuers.cert-manager.io}
spec: {group: cert-manager.io, scope: Cluster, names: {kind: ClusterIssuer}}
---
{apiVersion: example.com/v1, kind: CustomResourceDefinition, metadata: {name: other}, spec: {group: x, scope: Cluster, names: {kind: X}}}
`

func TestSetNamespace(t *testing.T) {
	objects := read(t, `
{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: other}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: c, namespace: wrong}}
---
{apiVersion: rbac.authorization.k8s.io/v1beta1, kind: ClusterRole, metadata: {name: d}}
---
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: e}}
---
{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: f}}
---
{apiVersion: x/v1, kind: X, metadata: {name: g}}
---
{apiVersion: x/v1, kind: X, metadata: {name: h, namespace: own}}
---
{apiVersion: talos.dev/v1alpha1, kind: ServiceAccount, metadata: {name: i}}
`)
	unknown := NewScopes(read(t, crds)...).SetNamespace("ns", objects)
	want := []string{
		"ConfigMap/ns/a", "ConfigMap/other/b", "Namespace/c", "ClusterRole.rbac.authorization.k8s.io/d",
		"Issuer.cert-manager.io/ns/e", "ClusterIssuer.cert-manager.io/f", "X.x/g", "X.x/own/h", "ServiceAccount.talos.dev/ns/i",
	}
	if got := ids(objects); !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := ids(unknown); !slices.Equal(got, []string{"X.x/g"}) {
		t.Errorf("unknown: %v", got)
	}
}

func ids(objects []Object) (all []string) {
	for _, o := range objects {
		all = append(all, o.ID().String())
	}
	return all
}

func TestSort(t *testing.T) {
	objects := read(t, `
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: z}}
---
{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: w}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: b, namespace: b}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: b}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: c, namespace: a}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: x}}
`)
	Sort(objects)
	want := "Namespace/x Deployment.apps/a/c Deployment.apps/b/a Deployment.apps/b/b Issuer.cert-manager.io/w ValidatingWebhookConfiguration.admissionregistration.k8s.io/z"
	if got := strings.Join(ids(objects), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestServed(t *testing.T) {
	for _, tt := range []struct {
		minor int
		api   string
		want  bool
	}{
		{32, "v1", true}, {32, "v1/Secret", true}, {32, "policy/v1", true}, {32, "policy/v1/PodDisruptionBudget", true},
		{32, "policy/v1beta1", false}, {33, "resource.k8s.io/v1", false}, {34, "resource.k8s.io/v1", true},
		{37, "autoscaling/v2/HorizontalPodAutoscaler", true}, {37, "monitoring.coreos.com/v1", false},
	} {
		if got := slices.Contains(Served(tt.minor), tt.api); got != tt.want {
			t.Errorf("1.%d serves %s: %v, want %v", tt.minor, tt.api, got, tt.want)
		}
	}
}
