package kube

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/manifest"
)

const ofTalos = `
{apiVersion: apps/v1, kind: DaemonSet, metadata: {namespace: kube-system, name: kube-proxy}, spec: {selector: {matchLabels: {k8s-app: kube-proxy}}, template: {metadata: {labels: {k8s-app: kube-proxy}}, spec: {containers: [{name: kube-proxy, image: "registry.k8s.io/kube-proxy:v1.36.3"}]}}}}
{apiVersion: v1, kind: Service, metadata: {namespace: kube-system, name: kube-dns}, spec: {clusterIP: 10.96.0.10, clusterIPs: [10.96.0.10], ports: [{name: dns, port: 53}]}}
`

func objectsOfText(t *testing.T, lines string) (all []manifest.Object) {
	for text := range strings.Lines(strings.TrimSpace(lines)) {
		var value map[string]any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		normal, err := manifest.Normalize(value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, normal.(map[string]any))
	}
	return all
}

// TestManifests makes Talos' objects new: a dry run writes nothing, what somebody has set
// besides stays, and a second time there is nothing to do.
func TestManifests(t *testing.T) {
	api, c := worldOf(t, ofTalos)
	wanted := strings.Replace(ofTalos, "kube-proxy:v1.36.3", "kube-proxy:v1.37.1", 1)
	wanted = strings.ReplaceAll(wanted, "10.96.0.10", "10.200.0.10")
	objects := objectsOfText(t, wanted+`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: kube-system, name: coredns}, data: {Corefile: "x"}}`)
	labelled := api.Get("DaemonSet", "kube-system", "kube-proxy")
	labelled["metadata"].(map[string]any)["labels"] = map[string]any{"somebody": "was here"}
	api.Put(labelled)
	image := func() string {
		o := manifest.Object(api.Get("DaemonSet", "kube-system", "kube-proxy"))
		return o.Map("spec", "template", "spec")["containers"].([]any)[0].(map[string]any)["image"].(string)
	}
	want := []string{"ConfigMap/kube-system/coredns", "DaemonSet.apps/kube-system/kube-proxy"}
	for _, dry := range []bool{true, false} {
		changed, err := c.Manifests(t.Context(), objects, dry)
		if err != nil || !slices.Equal(changed, want) {
			t.Errorf("dry %v: %v, %v", dry, changed, err)
		}
		if is := image(); strings.HasSuffix(is, "1.37.1") == dry || (api.See("ConfigMap", "kube-system", "coredns") == nil) != dry {
			t.Errorf("dry %v: it has %s", dry, is)
		}
	}
	if changed, err := c.Manifests(t.Context(), objects, false); err != nil || len(changed) > 0 {
		t.Errorf("again: %v, %v", changed, err)
	}
	if o := manifest.Object(api.Get("DaemonSet", "kube-system", "kube-proxy")); o.Text("metadata", "labels", "somebody") == "" {
		t.Error("what somebody has set is lost")
	}
	if o := manifest.Object(api.Get("Service", "kube-system", "kube-dns")); o.Text("spec", "clusterIP") != "10.96.0.10" {
		t.Errorf("the Service has another address: %v", o.Map("spec"))
	}
	if _, err := c.Manifests(t.Context(), objectsOfText(t, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: x}}"), false); err == nil || !strings.Contains(err.Error(), "serves no") {
		t.Errorf("it says %v", err)
	}
}

// TestInventory: what Talos has made names its inventory, and goes on doing so: nothing
// is to do for an object that is as Talos has made it. What does not name it yet does
// so afterwards.
func TestInventory(t *testing.T) {
	const inventory = "{apiVersion: v1, kind: ConfigMap, metadata: {namespace: kube-system, name: talos-bootstrap-manifests-inventory}}\n"
	objects := objectsOfText(t, ofTalos)
	made := strings.ReplaceAll(strings.TrimSpace(ofTalos), "metadata: {namespace: kube-system,",
		"metadata: {namespace: kube-system, annotations: {config.k8s.io/owning-inventory: talos-bootstrap-manifests-inventory},") + "\n"
	for _, c := range []struct {
		name, inventory, made string
		changed               int
		want                  string
	}{
		{"made by Talos since 1.13", inventory, made, 0, "talos-bootstrap-manifests-inventory"},
		{"made before there was an inventory", inventory, "", 2, "talos-bootstrap-manifests-inventory"},
		{"Talos has none", "", "", 0, ""},
	} {
		api, client := worldOf(t, ofTalos+c.inventory)
		if c.made != "" {
			if _, err := client.Manifests(t.Context(), objectsOfText(t, made), false); err != nil {
				t.Fatal(err)
			}
		}
		changed, err := client.Manifests(t.Context(), objects, false)
		if err != nil || len(changed) != c.changed {
			t.Errorf("%s: %v, %v; want %d", c.name, changed, err, c.changed)
		}
		if got := manifest.Object(api.Get("DaemonSet", "kube-system", "kube-proxy")).Text("metadata", "annotations", "config.k8s.io/owning-inventory"); got != c.want {
			t.Errorf("%s: its inventory is %q, want %q", c.name, got, c.want)
		}
	}
}

// TestUnready: workloads are waited for until all their pods are of the new version.
func TestUnready(t *testing.T) {
	objects := objectsOfText(t, ofTalos)
	for status, want := range map[string]int{
		"{observedGeneration: 1, desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2, numberReady: 2}": 1,
		"{observedGeneration: 1, desiredNumberScheduled: 2, currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2, numberReady: 2}": 0,
	} {
		_, c := worldOf(t, strings.Replace(strings.Replace(ofTalos, "name: kube-proxy}, spec", "name: kube-proxy, generation: 1}, spec", 1), `kube-proxy:v1.36.3"}]}}}}`, `kube-proxy:v1.36.3"}]}}}, status: `+status+`}`, 1))
		if waits, err := c.Unready(t.Context(), objects); err != nil || len(waits) != want {
			t.Errorf("%s: %v, %v", status, waits, err)
		}
	}
	_, c := worldOf(t, reported)
	if waits, err := c.Unready(t.Context(), objects); err != nil || len(waits) != 1 || !strings.Contains(waits[0], "not there") {
		t.Errorf("none: %v, %v", waits, err)
	}
}
