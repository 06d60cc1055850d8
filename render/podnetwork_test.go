package render_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render"
)

// A cluster in which Flux waits for a network of pods that nothing brings is
// warned of, at each render.
func TestNoPodNetworkBeforeFlux(t *testing.T) {
	const (
		none = "cni: {type: none}\n"
		flux = "gitops: {repository: \"https://git.example.com/a\"}\naddons: {flux: {source: {path: charts/flux}}}\n"
		net  = "[{name: net, contents: \"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: net, namespace: kube-system}}\"}]"
	)
	for _, tt := range []struct {
		name, options, patch string
		want                 bool
	}{
		{"nothing brings it", none + flux, "", true},
		{"nothing brings it before the operator", none + "gitops: {repository: \"https://git.example.com/a\", components: operator}\naddons: {flux-operator: {source: {path: charts/flux}}}\n", "", true},
		{"no Flux", none, "", false},
		{"a Flux of others", none + "gitops: {repository: \"https://git.example.com/a\", components: existing}\n", "", false},
		{"flannel", flux, "", false},
		{"Talos brings it", none + flux + "kubernetes: {inlineManifests: " + net + "}\n", "", false},
		{"Talos brings something else", none + flux + "kubernetes: {inlineManifests: " + strings.Replace(net, "DaemonSet", "ConfigMap", 1) + "}\n", "", true},
		{"a patch brings it", none + flux, "apiVersion: v1alpha1\nkind: KubeExternalManifestConfig\nname: net\nurl: https://example.com/net.yaml\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, key := gatewayRepo(t)
			r.file("envs/prod/cluster.yaml", gatewayCluster+tt.options)
			r.file("charts/flux/namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: flux-system}\n")
			if tt.patch != "" {
				r.file("envs/prod/patches/controlplane.yaml", tt.patch)
			}
			for range 2 { // the second one takes over what the first has written
				repo := r.open(key)
				res := mustRender(t, repo, "prod", render.Options{})
				warned := strings.Contains(res.Warnings.Error(), "nothing brings a network of pods before Flux")
				if warned != tt.want {
					t.Errorf("warned: %v\n%s", warned, res.Warnings.Error())
				}
				if _, err := repo.Write(res); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
