package kube

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan/recreate"
)

// Volumes are bound to nodes by their disks, or to locations by where they are at
// Hetzner; those that are anywhere are nobody's.
func TestBoundVolumes(t *testing.T) {
	_, client := worldOf(t, strings.TrimSpace(disrupted)+`
{apiVersion: v1, kind: PersistentVolume, metadata: {name: p3}, spec: {claimRef: {namespace: shop, name: pinned}, csi: {driver: local.csi.openebs.io, volumeHandle: "3"}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [w-9]}]}]}}}}
{apiVersion: v1, kind: PersistentVolume, metadata: {name: p4}, spec: {claimRef: {namespace: shop, name: anywhere}, csi: {driver: nfs.csi.k8s.io, volumeHandle: "4"}}}
{apiVersion: v1, kind: PersistentVolume, metadata: {name: p5}, spec: {local: {path: /free}}}
{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: job}, spec: {nodeName: w-9, volumes: [{name: d, persistentVolumeClaim: {claimName: pinned}}]}, status: {phase: Succeeded}}
`)
	found, err := BoundVolumes(context.Background(), client)
	if err != nil {
		t.Fatal(err)
	}
	want := []recreate.Bound{
		{Claim: "shop/data", HostPath: true, Pods: map[string][]string{"w-1": {"shop/db-0"}}},
		{Claim: "shop/cloud", Locations: []string{"fsn1"}, Pods: map[string][]string{"w-2": {"shop/web-1"}}},
		{Claim: "shop/pinned", Nodes: []string{"w-9"}},
	}
	if !reflect.DeepEqual(found, want) {
		t.Errorf("found %+v\nwant  %+v", found, want)
	}
}
