package kube

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

// ending has a kind without another version, one that is written in an old version by
// kubectl, and what Flux and Helm have applied.
const ending = `
{apiVersion: certificates.k8s.io/v1alpha1, kind: ClusterTrustBundle, metadata: {name: example.com}}
{apiVersion: networking.k8s.io/v1, kind: IPAddress, metadata: {name: 192.0.2.1, managedFields: [{manager: kubectl, operation: Update, apiVersion: networking.k8s.io/v1beta1}, {manager: kubectl, operation: Apply, apiVersion: networking.k8s.io/v1beta1}, {manager: flux, operation: Apply, apiVersion: networking.k8s.io/v1}]}}
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: kustomizations.kustomize.toolkit.fluxcd.io}, spec: {group: kustomize.toolkit.fluxcd.io, scope: Namespaced, names: {plural: kustomizations, kind: Kustomization}, versions: [{name: v1, served: true, storage: true}]}}
{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {namespace: flux-system, name: apps}, status: {inventory: {entries: [{id: _gold_storage.k8s.io_VolumeAttributesClass, v: v1beta1}, {id: shop_web_apps_Deployment, v: v1}]}}}
{apiVersion: v1, kind: Secret, metadata: {namespace: shop, name: sh.helm.release.v1.web.v1, labels: {owner: helm, status: superseded, name: web}}, data: {release: %[1]s}}
{apiVersion: v1, kind: Secret, metadata: {namespace: shop, name: sh.helm.release.v1.web.v2, labels: {owner: helm, status: deployed, name: web}}, data: {release: %[1]s}}
{apiVersion: v1, kind: Secret, metadata: {namespace: shop, name: like-one, labels: {owner: helm, status: deployed}}, data: {release: bm8=}}
`

// TestRemovedUses finds what ends with a minor, by its owner, and not what ends later.
func TestRemovedUses(t *testing.T) {
	_, c := worldOf(t, fmt.Sprintf(ending, helmRelease(t, "# a\napiVersion: networking.k8s.io/v1beta1\nkind: ServiceCIDR\n---\napiVersion: v1\nkind: Service\n")))
	want := []Use{
		{What: "certificates.k8s.io/v1alpha1 ClusterTrustBundle", Owner: "example.com", In: "1.37.0", Stored: true},
		{What: "networking.k8s.io/v1beta1 IPAddress", Owner: "kubectl, which writes 192.0.2.1", In: "1.37.0"},
		{What: "storage.k8s.io/v1beta1 VolumeAttributesClass", Owner: "Kustomization flux-system/apps", In: "1.37.0"},
		{What: "networking.k8s.io/v1beta1 ServiceCIDR", Owner: "Helm release shop/web", In: "1.37.0"},
	}
	if got, err := RemovedUses(t.Context(), c, 37); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := RemovedUses(t.Context(), c, 36); err != nil || len(got) > 0 {
		t.Errorf("until 1.36: %+v, %v", got, err)
	}
}

// TestDeprecatedRequests reads what the API server has counted: what somebody else asks
// for, and not what finding uses asks for itself.
func TestDeprecatedRequests(t *testing.T) {
	_, c := worldOf(t, fmt.Sprintf(ending, "bm8="))
	if _, err := RemovedUses(t.Context(), c, 37); err != nil {
		t.Fatal(err)
	}
	if got, err := DeprecatedRequests(t.Context(), c, "cp-1", 37); err != nil || len(got) > 0 {
		t.Errorf("before anybody asked: %+v, %v", got, err)
	}
	if err := c.served.RESTClient().Get().AbsPath("/apis/storage.k8s.io/v1beta1/volumeattributesclasses").Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	want := []Use{{What: "storage.k8s.io/v1beta1 volumeattributesclasses", Owner: "clients of the API server of cp-1", In: "1.37.0"}}
	if got, err := DeprecatedRequests(t.Context(), c, "cp-1", 37); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := DeprecatedRequests(t.Context(), c, "cp-1", 36); err != nil || len(got) > 0 {
		t.Errorf("until 1.36: %+v, %v", got, err)
	}
}

// helmRelease is a manifest as Helm keeps it in a Secret.
func helmRelease(t *testing.T, manifest string) string {
	text, err := json.Marshal(map[string]string{"name": "web", "manifest": manifest})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	once := base64.StdEncoding.EncodeToString(packed.Bytes())
	return base64.StdEncoding.EncodeToString([]byte(once))
}
