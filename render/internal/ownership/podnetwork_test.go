package ownership

import (
	"testing"

	"github.com/talosgen/talosgen/internal/manifest"
)

func TestBringsPodNetwork(t *testing.T) {
	const none, of114 = "cluster: {network: {cni: {name: none}}", "machine: {}\n---\nkind: KubeClusterConfig\n"
	for _, tt := range []struct {
		name, config string
		want         bool
	}{
		{"flannel, unless something else is said", "cluster: {}", true},
		{"none", none + "}", false},
		{"a custom one", "cluster: {network: {cni: {name: custom, urls: ['https://example.com/net.yaml']}}}", true},
		{"manifests from elsewhere", none + ", extraManifests: ['https://example.com/net.yaml']}", true},
		{"an inline DaemonSet", none + ", inlineManifests: [{name: net, contents: '{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: net}}'}]}", true},
		{"an inline Job", none + ", inlineManifests: [{name: net, contents: '{apiVersion: batch/v1, kind: Job, metadata: {name: net}}'}]}", true},
		{"an inline Namespace", none + ", inlineManifests: [{name: net, contents: '{apiVersion: v1, kind: Namespace, metadata: {name: net}}'}]}", false},
		{"an inline manifest that cannot be read", none + ", inlineManifests: [{name: net, contents: '{'}]}", true},
		{"none, of 1.14", of114, false},
		{"flannel, of 1.14", of114 + "---\nkind: KubeFlannelCNIConfig\n", true},
		{"manifests from elsewhere, of 1.14", of114 + "---\nkind: KubeExternalManifestConfig\nurl: https://example.com/net.yaml\n", true},
	} {
		m := Machine{File: "nodes/a.yaml", Documents: documents(t, []byte(tt.config)), Parse: manifest.Parse}
		if got := BringsPodNetwork(m); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
