package render_test

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render"
)

// A group that is mapped to a role in a namespace that nothing makes is warned of,
// where cluster.yaml names it; so is a role of one's own.
func TestNamespacesOfRoles(t *testing.T) {
	const (
		mapping = "kubernetes:\n  oidc:\n    enabled: true\n    issuerUrl: https://issuer.example.com\n    groupMappings:\n      - group: devs\n        clusterRoles: [view]\n        roles: [{name: deployer, namespace: shop}]\n"
		roles   = "kubernetes:\n  rbac:\n    roles: [{name: deployer, namespace: shop, rules: [{apiGroups: [apps], resources: [deployments], verbs: [get]}]}]\n"
		says    = "no addon makes the namespace shop"
	)
	for _, tt := range []struct {
		name, options, manifest string
		want                    string // how a warning begins; empty: none
	}{
		{"a mapping", mapping, "", "envs/prod/cluster.yaml:13:45: " + says},
		{"a role", roles, "", "envs/prod/cluster.yaml:8:41: " + says},
		{"a namespace that every cluster has", strings.Replace(mapping, "shop", "default", 1), "", ""},
		{"a namespace of an addon", mapping + "addons: {shop: {source: {path: charts/shop}, namespace: shop}}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", ""},
		{"a namespace among objects", mapping + "addons: {shop: {source: {path: charts/shop}}}\n", "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n", ""},
		{"the addon is off", mapping + "addons: {oidc: {enabled: false}}\n", "", ""},
		{"OIDC is off", strings.Replace(mapping, "enabled: true", "enabled: false", 1), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, key := gatewayRepo(t)
			r.file("envs/prod/cluster.yaml", gatewayCluster+tt.options)
			if tt.manifest != "" {
				r.file("charts/shop/all.yaml", tt.manifest)
			}
			warnings := mustRender(t, r.open(key), "prod", render.Options{}).Warnings.Error()
			if tt.want == "" && strings.Contains(warnings, "no addon makes") || !strings.Contains(warnings, tt.want) {
				t.Errorf("no %q in\n%s", tt.want, warnings)
			}
		})
	}
}
