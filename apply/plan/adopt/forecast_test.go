package adopt

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/apply/plan/cloud"
)

// additions are labels as apply adds them: of objects, by the words of a text.
func additions(texts ...string) (all []cloud.Addition) {
	for _, text := range texts {
		words := strings.Fields(text)
		for _, key := range words[1:] {
			all = append(all, cloud.Addition{Object: plan.Key(words[0]), Key: key, Text: key + "=x"})
		}
	}
	return all
}

// TestForecast: what Terraform's next plan says is told by resource, for each module that
// is known, and nothing is made up for others.
func TestForecast(t *testing.T) {
	pools := []Pool{{Name: "control-plane", ControlPlane: true, Nodes: []string{"dev-control-plane-1", "control-plane-1"}}, {Name: "worker", Nodes: []string{"dev-worker-1", "worker-1"}}}
	for name, c := range map[string]struct {
		module Module
		labels []cloud.Addition
		want   []string
	}{
		"hcloud-k8s": {HcloudK8s, additions("network/dev managed-by talosgen.dev/adopted", "placement-group/dev-control-plane-pg managed-by", "placement-group/dev-worker-pg-1 managed-by",
			"server/dev-control-plane-1 managed-by nodepool", "server/dev-worker-1 managed-by", "load-balancer/dev-kube-api managed-by component"), []string{
			"~ hcloud_network.this (1 object): updated in place, without the labels managed-by, talosgen.dev/…",
			"~ hcloud_placement_group.control_plane (1 object): updated",
			"~ hcloud_placement_group.worker (1 object): updated",
			"~ hcloud_server.control_plane (1 object): updated in place, without the labels managed-by, nodepool, talosgen.dev/…",
			"~ hcloud_server.worker (1 object): updated",
			"~ hcloud_load_balancer.kube_api (1 object): updated in place, without the labels managed-by, component, talosgen.dev/…",
			"Plan: 0 to add, 6 to change, 0 to destroy",
			"machine configurations: 0 to change", "not computed: what your variables change"}},
		"hcloud-talos": {HcloudTalos, additions("network/dev managed-by", "placement-group/control-plane managed-by", "placement-group/dev-worker managed-by", "server/control-plane-1 managed-by nodepool", "server/worker-1 managed-by nodepool"), []string{
			"~ hcloud_placement_group.control_plane (1 object)", "~ hcloud_placement_group.worker (1 object)",
			"~ hcloud_server.control_planes (1 object)", "~ hcloud_server.workers (1 object)", "Plan: 0 to add, 5 to change, 0 to destroy", "the address that Terraform runs from"}},
		"another":         {NoModule, additions("server/dev-worker-1 managed-by"), nil},
		"nothing is left": {HcloudK8s, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Mapping{Module: c.module, Pools: pools}
			lines := m.Forecast(c.labels)
			got := strings.Join(lines, "\n")
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not in\n%s", want, got)
				}
			}
			if len(c.want) == 0 && got != "" {
				t.Errorf("made up: %s", got)
			}
		})
	}
}

var (
	resourceBlock = regexp.MustCompile(`(?ms)^resource "([a-z_]+)" "([a-z0-9_]+)" \{\n(.*?)^\}`)
	ignoreBlock   = regexp.MustCompile(`(?s)ignore_changes = \[(.*?)\]`)
)

// TestModuleSources compares what is said of modules with their own sources, in the folders
// terraform-hcloud-kubernetes and terraform-hcloud-talos of the one that
// TALOSGEN_TERRAFORM_MODULES names.
func TestModuleSources(t *testing.T) {
	dir := os.Getenv("TALOSGEN_TERRAFORM_MODULES")
	if dir == "" {
		t.Skip("NOT COMPARED with the sources of Terraform modules: TALOSGEN_TERRAFORM_MODULES names no folder of them")
	}
	for module, folder := range map[Module]string{HcloudK8s: "terraform-hcloud-kubernetes", HcloudTalos: "terraform-hcloud-talos"} {
		blocks := map[string]string{}
		files, err := filepath.Glob(filepath.Join(dir, folder, "*.tf"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no sources of %s: %v", module, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range resourceBlock.FindAllStringSubmatch(string(data), -1) {
				blocks[b[1]+"."+b[2]] = b[3]
			}
		}
		of := modules[module]
		for _, name := range append([]string{of.network, of.balancer}, append(of.groups[:], of.servers[:]...)...) {
			if name != "" && (!regexp.MustCompile(`(?m)^  labels = `).MatchString(blocks[name]) || slices.Contains(ignored(blocks[name]), "labels")) {
				t.Errorf("%s: %s does not set its labels, or ignores them", module, name)
			}
		}
		for i, name := range of.servers {
			if got := ignored(blocks[name]); !slices.Equal(got, of.ignored[i]) {
				t.Errorf("%s: %s ignores %v, want %v", module, name, got, of.ignored[i])
			}
		}
	}
}

// ignored are the attributes whose changes a resource ignores.
func ignored(block string) []string {
	found := ignoreBlock.FindStringSubmatch(block)
	if found == nil {
		return nil
	}
	return strings.FieldsFunc(found[1], func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
}
