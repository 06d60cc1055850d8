package render_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// chartAddons are the addons of the catalogue that are a chart, by the name of the
// chart, with what turns each on besides addons.<name>.enabled.
var chartAddons = map[string]struct{ addon, storage string }{
	"csi-driver-nfs":           {"csi-driver-nfs", "nfs: [{name: nas, server: nas.example.com, share: /a}]"},
	"csi-driver-smb":           {"csi-driver-smb", "smb: [{name: box, source: //box.example.com/a}]"},
	"descheduler":              {addon: "descheduler"},
	"external-secrets":         {addon: "external-secrets"},
	"kube-prometheus-stack":    {addon: "kube-prometheus-stack"},
	"localpv-provisioner":      {"openebs-localpv", "local: {enabled: true}"},
	"longhorn":                 {"longhorn", "longhorn: {enabled: true}"},
	"node-feature-discovery":   {addon: "node-feature-discovery"},
	"prometheus-operator-crds": {addon: "prometheus-operator-crds"},
	"reloader":                 {addon: "reloader"},
	"sealed-secrets":           {addon: "sealed-secrets"},
	"snapshot-controller":      {addon: "snapshot-controller"},
	"spegel":                   {addon: "spegel"},
	"tailscale-operator":       {addon: "tailscale-operator"},
}

// TestUpstreamAddons renders an environment with all addons whose charts are in
// $TALOSGEN_CHARTS_DIR, each with the values of the catalogue, and checks the tree:
// nothing is warned of, and nothing in it is wrong.
func TestUpstreamAddons(t *testing.T) {
	dir := upstreamCharts(t)
	r, key := gatewayRepo(t)
	r.variables("prod", key, "    GRAFANA_ADMIN_PASSWORD: canary\n    SMB_USERNAME: canary-user\n    SMB_PASSWORD: canary\n    TAILSCALE_CLIENT_ID: canary-id\n    TAILSCALE_CLIENT_SECRET: canary\n")
	var addons, storage strings.Builder
	for _, chart := range slices.Sorted(maps.Keys(chartAddons)) {
		if _, err := os.Stat(filepath.Join(dir, chart)); err != nil {
			t.Logf("%s is not in TALOSGEN_CHARTS_DIR", chart)
			continue
		}
		a := chartAddons[chart]
		if a.addon == "sealed-secrets" {
			continue // a key takes long to make; its test is in the catalogue
		}
		enabled := "enabled: true, "
		if a.storage != "" {
			enabled = ""
			fmt.Fprintf(&storage, "  %s\n", a.storage)
		}
		fmt.Fprintf(&addons, "  %s: {%ssource: {chart: {path: charts/%s}}, needs: {unmet: apply}}\n", a.addon, enabled, chart)
	}
	if addons.Len() == 0 {
		t.Skip("there are no such charts")
	}
	text := gatewayCluster + "addons:\n" + addons.String()
	if storage.Len() > 0 {
		text += "storage:\n" + storage.String()
	}
	r.file("envs/prod/cluster.yaml", text)
	if err := os.CopyFS(filepath.Join(r.root, "charts"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	checkUpstream(t, r, key, "cluster-autoscaler") // the gateway's cluster has one
}
