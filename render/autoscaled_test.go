package render_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render"
	"github.com/talosgen/talosgen/schemas"
)

// Friction B13: the reference of options names the place of patches for autoscaled
// pools, and servers that the autoscaler makes have what is there.
func TestPatchesOfAutoscaledPools(t *testing.T) {
	r, key := gatewayRepo(t)
	r.file("envs/prod/cluster.yaml", strings.Replace(gatewayCluster, "nodepools: [", "nodepools: [{name: other, max: 2, type: cpx22}, ", 1))
	at := placeOf(t, "cluster_autoscaler_config_patches", "burst")
	r.file("envs/prod/"+at+"watches.yaml", "machine:\n  sysctls:\n    fs.inotify.max_user_watches: \"424242\"\n")
	mustWrite(t, r.open(key), "prod")
	configs := autoscaledConfigs(t, r)
	for pool, patched := range map[string]bool{"prod-burst": true, "prod-other": false} {
		switch config, made := configs[pool]; {
		case !made:
			t.Errorf("the autoscaler has no configuration of %s", pool)
		case strings.Contains(config, "fs.inotify.max_user_watches: \"424242\"") != patched:
			t.Errorf("%s: patched is %v in\n%s", pool, !patched, config)
		}
	}
}

// What is wrong with the configuration of all workers is said once, for nodes and
// for the servers of the autoscaler, whoever finds it.
func TestProblemsOfAutoscaledPools(t *testing.T) {
	const cluster = "talos: {version: v1.13.9}\n"
	for _, tt := range []struct{ name, patch, want string }{
		{"a node label", "machine:\n  nodeLabels:\n    example.com/a: \"a b\"\n", "label"},
		{"an image", "machine:\n  install:\n    image: ghcr.io/siderolabs/installer:v1.12.1\n", "installs Talos v1.12.1"},
		{"a key", "machine:\n  kubelett: {}\n", "kubelett"},
		{"a variable", "machine:\n  nodeLabels: {a: \"${NOWHERE}\"}\n", "NOWHERE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, key := gatewayRepo(t)
			workers := "nodes: {controlPlane: {count: 1, type: cpx22}, workers: {nodepools: [{name: w, count: 2, type: cpx22}]}}\n"
			r.file("envs/prod/cluster.yaml", cluster+regexp.MustCompile(`(?m)^nodes: .*\n`).ReplaceAllString(gatewayCluster, workers))
			r.file("envs/prod/patches/worker.yaml", tt.patch)
			res, err := r.open(key).Render(t.Context(), "prod", render.Options{})
			var all diag.List
			all.AddErr(err)
			if res != nil {
				all.Add(res.Warnings...)
			}
			var about []string
			for _, p := range all {
				if strings.Contains(p.Message, tt.want) {
					about = append(about, p.Error())
				}
			}
			if len(about) != 1 {
				t.Errorf("said %d times:\n%s\nin\n%v", len(about), strings.Join(about, "\n"), all.Err())
			}
		})
	}
}

// placeOf is the directory that the reference names for an option of another
// tool, of a pool.
func placeOf(t *testing.T, variable, pool string) string {
	t.Helper()
	for _, group := range schemas.HcloudK8s {
		for _, c := range group.Counterparts {
			if m := regexp.MustCompile("^`(patches/[a-z<>/]+/)` of the environment$").FindStringSubmatch(c.Remark); c.Variable == variable && m != nil {
				return strings.Replace(m[1], "<pool>", pool, 1)
			}
		}
	}
	t.Fatalf("the reference names no place for %s", variable)
	return ""
}

// autoscaledConfigs are the machine configurations that the autoscaler of prod
// gives new servers, by group.
func autoscaledConfigs(t *testing.T, r *testRepo) map[string]string {
	t.Helper()
	plain, err := r.decrypted("rendered/prod/bootstrap/cluster-autoscaler/secret-cluster-autoscaler-hetzner-config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Data map[string]string
	}
	if err := yaml.Unmarshal([]byte(plain), &object); err != nil {
		t.Fatal(err)
	}
	text, err := base64.StdEncoding.DecodeString(object.Data["cluster-config"])
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		NodeConfigs map[string]struct{ CloudInit string }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	configs := map[string]string{}
	for name, c := range file.NodeConfigs {
		configs[name] = unpacked(t, c.CloudInit)
	}
	return configs
}

// unpacked is user data as Talos reads it.
func unpacked(t *testing.T, userData string) string {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(userData)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
