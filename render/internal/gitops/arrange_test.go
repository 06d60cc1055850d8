package gitops

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/schemas"
)

// testSettings are those of a case; with engine flux unless it says otherwise.
type testSettings struct {
	Engine      string            `yaml:"engine"`
	Credentials map[string]string `yaml:"credentials"`
	Path        string            `yaml:"path"`
	Components  string            `yaml:"components"`
	Multitenant bool              `yaml:"multitenant"`
	OCI         schemas.OCISource `yaml:"oci"`
	Prune       bool              `yaml:"prune"`
	Namespace   string            `yaml:"namespace"`
	Hosts       string            `yaml:"hosts"`
}

// testAddon is an addon of a case. Its objects are documents of a file
// <name>.yaml.
type testAddon struct {
	Name        string   `yaml:"name"`
	Layer       string   `yaml:"layer"`
	DependsOn   []string `yaml:"dependsOn"`
	Namespace   string   `yaml:"namespace"`
	PodSecurity string   `yaml:"podSecurity"`
	Keep        bool     `yaml:"keep"`
	Applied     bool     `yaml:"applied"`
}

// TestArrange runs testdata/*.txtar: addons.yaml, settings.yaml, and the objects
// of each addon and of Flux' components give the files of want.txt, or
// error.txt.
func TestArrange(t *testing.T) {
	casetest.Run(t, "testdata/*.txtar", []string{"want.txt", "error.txt"}, func(t *testing.T, c casetest.Case) map[string]string {
		files, err := Arrange(readCase(t, c.Texts))
		if err != nil {
			return map[string]string{"error.txt": err.Error() + "\n"}
		}
		return map[string]string{"want.txt": listing(t, files)}
	})
}

func readCase(t *testing.T, in map[string]string) ([]Addon, Settings) {
	t.Helper()
	var listed []testAddon
	given := testSettings{Engine: schemas.Flux, Path: "rendered/dev", Prune: true, Namespace: "argocd"}
	for name, into := range map[string]any{"addons.yaml": &listed, "settings.yaml": &given} {
		if err := yaml.Unmarshal([]byte(in[name]), into); err != nil {
			t.Fatal(err)
		}
	}
	objects := func(name string) []manifest.Object {
		all, err := manifest.Parse(name, []byte(in[name]))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	var addons []Addon
	for _, a := range listed {
		addons = append(addons, Addon{
			Name: a.Name, Layer: catalogue.Layer(a.Layer), DependsOn: a.DependsOn, Namespace: a.Namespace,
			PodSecurity: a.PodSecurity, Keep: a.Keep, Applied: a.Applied, Origin: "addons." + a.Name, Objects: objects(a.Name + ".yaml"),
		})
	}
	return addons, Settings{
		GitOps: schemas.GitOps{
			Engine: given.Engine, Repository: "https://git.example.com/clusters", Branch: "main", Path: given.Path, Interval: "10m",
			Components: given.Components, Instance: schemas.FluxInstance{Multitenant: given.Multitenant}, OCI: given.OCI,
			ArgoCD: schemas.ArgoCDSettings{Namespace: given.Namespace, Prune: given.Prune, SelfHeal: true},
		},
		Hosts:       given.Hosts,
		Credentials: given.Credentials, AgeKey: "AGE-SECRET-KEY-1", Components: objects("components.yaml"),
	}
}

// listing shows files with their content.
func listing(t *testing.T, files []File) string {
	t.Helper()
	domains := map[Domain]string{Plain: "", Operator: " (operator)", Cluster: " (cluster)"}
	var b strings.Builder
	for _, f := range files {
		text, err := manifest.Encode(f.Objects...)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("## " + f.Path + domains[f.Domain] + "\n" + string(text))
	}
	return b.String()
}
