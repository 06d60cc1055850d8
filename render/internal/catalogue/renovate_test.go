package catalogue

import (
	"cmp"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/renovatetest"
	"github.com/talosgen/talosgen/internal/scaffold"
)

// TestRenovateKnowsTheCatalogue: the renovate.json of a new repository says of each
// addon that has a version where newer ones are: where the catalogue takes it from.
func TestRenovateKnowsTheCatalogue(t *testing.T) {
	config := newRenovate(t)
	for _, e := range append(entries(), flux(), fluxOperator()) {
		if e.version == "" {
			continue
		}
		text := "addons:\n  " + e.name + ":\n    version: " + e.version + "\n"
		found, err := config.Find(map[string]string{"envs/dev/cluster.yaml": text})
		if err != nil || len(found) != 1 {
			t.Fatalf("%s: found %v, %v", e.name, found, err)
		}
		d := found[0]
		got := d.Datasource + " " + cmp.Or(d.PackageName, d.DepName) + " " + d.RegistryURL
		if want := origin(t, e); got != want {
			t.Errorf("%s: %s; the catalogue takes it from %s", e.name, got, want)
		}
	}
}

func newRenovate(t *testing.T) *renovatetest.Config {
	t.Helper()
	files, err := scaffold.Files(scaffold.Options{
		Provider: "static", CI: "none", Env: "dev", ClusterName: "dev", TalosgenVersion: "0.1.0",
		AgeRecipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Path == "renovate.json" {
			config, err := renovatetest.Parse(f.Data)
			if err != nil {
				t.Fatal(err)
			}
			return config
		}
	}
	t.Fatal("there is no renovate.json")
	return nil
}

// images are those of the addons whose objects are built in, and whose version is the
// tag of an image.
var images = map[string]string{
	autoscalerName: autoscalerImage, approverName: approverImage, "hcloud-ccm": ccmImage, csiName: csiImage, metricsName: metricsImage, backupName: backupImage,
}

// origin is where the catalogue takes an addon from, in Renovate's words.
func origin(t *testing.T, e entry) string {
	t.Helper()
	if image := images[e.name]; image != "" {
		return "docker " + image + " "
	}
	f := &facts{Facts: Facts{}}
	a := Addon{Name: e.name}
	e.build(f, &a)
	switch {
	case a.Source == nil:
		t.Fatalf("%s has no source, and no image in this test", e.name)
	case a.Source.Chart != nil:
		if registry, is := strings.CutPrefix(a.Source.Chart.Repository, "oci://"); is {
			return "docker " + registry + "/" + a.Source.Chart.Name + " "
		}
		return "helm " + a.Source.Chart.Name + " " + a.Source.Chart.Repository
	}
	parts := strings.Split(strings.TrimPrefix(a.Source.Manifests[0].URL, "https://github.com/"), "/")
	return "github-releases " + parts[0] + "/" + parts[1] + " "
}
