package render_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/render/check"
)

// upstreamClusters have, together, every addon whose objects upstream writes.
var upstreamClusters = map[string]string{
	"cilium with everything": gatewayCluster + `cni: {type: cilium, encryption: ipsec, egressGateway: true, gatewayApi: true, hubble: {enabled: true, relay: true, ui: true}}
ingress: {nginx: {enabled: true}}
`,
	"cilium with Flux": gatewayCluster + `cni: {type: cilium, manager: flux}
ingress: {nginx: {enabled: true, kind: DaemonSet}, loadBalancerPools: [{name: edge, count: 2}]}
`,
	"static nodes": `clusterName: prod
provider: static
endpoint: https://192.0.2.1:6443
nodes: {controlPlane: {nodes: [{name: a, match: {mac: "00:00:5e:00:53:01"}, installDisk: /dev/sda, address: 192.0.2.1/24}]}}
ingress: {nginx: {enabled: true}}
`,
}

// TestUpstreamTrees renders whole environments with the charts and manifests in
// $TALOSGEN_CHARTS_DIR in place of what the catalogue would fetch, and checks
// the trees: with the values of the catalogue, nothing that upstream writes is
// wrong, unknown, or there twice.
func TestUpstreamTrees(t *testing.T) {
	dir := upstreamCharts(t)
	for name, cluster := range upstreamClusters {
		t.Run(name, func(t *testing.T) {
			r, key := gatewayRepo(t)
			r.variables("prod", key, "    CILIUM_IPSEC_KEY_1: \""+strings.Repeat("deadbeef1234567890", 4)+"\"\n")
			r.file("envs/prod/cluster.yaml", cluster+"gitops: {repository: \"https://git.example.com/a\"}\naddons:\n"+upstreamAddons(t, dir, cluster))
			if err := os.CopyFS(filepath.Join(r.root, "charts"), os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			checkUpstream(t, r, key, "retired")
		})
	}
}

// upstreamCharts is the directory with charts and manifests of upstream.
func upstreamCharts(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TALOSGEN_CHARTS_DIR")
	if dir == "" {
		t.Skip("TALOSGEN_CHARTS_DIR is not set: no charts to render")
	}
	return dir
}

// checkUpstream renders prod, and checks the tree: nothing is warned of but what has a
// word in it, and nothing in the tree is wrong.
func checkUpstream(t *testing.T, r *testRepo, key, expected string) {
	t.Helper()
	repo := r.open(key)
	for _, w := range mustRender(t, repo, "prod", render.Options{}).Warnings {
		if !strings.Contains(w.Error(), expected) {
			t.Error(w)
		}
	}
	mustWrite(t, repo, "prod")
	report, err := check.Tree(repo, "prod", check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Problems.Err(); err != nil || len(report.Conflicts) > 0 {
		t.Errorf("%v\n%s", err, check.ConflictsText(report.Conflicts))
	}
	t.Logf("%d objects", report.Objects)
}

// upstreamAddons names what is in the directory as the source of addons.
func upstreamAddons(t *testing.T, dir, cluster string) string {
	t.Helper()
	var b strings.Builder
	for _, a := range []struct{ name, source string }{
		{"cert-manager", "{chart: {path: charts/cert-manager}}"},
		{"cilium", "{chart: {path: charts/cilium}}"},
		{"flux", "{path: charts/flux}"},
		{"gateway-api", "{path: charts/gateway-api}"},
		{"ingress-nginx", "{chart: {path: charts/ingress-nginx}}"},
	} {
		if _, err := os.Stat(filepath.Join(dir, a.name)); err != nil {
			t.Skipf("%s is not in TALOSGEN_CHARTS_DIR", a.name)
		}
		if a.name == "cilium" && !strings.Contains(cluster, "type: cilium") {
			continue
		}
		enabled := ""
		if slices.Contains([]string{"cert-manager", "gateway-api"}, a.name) {
			enabled = "enabled: true, "
		}
		fmt.Fprintf(&b, "  %s: {%ssource: %s}\n", a.name, enabled, a.source)
	}
	return b.String()
}
