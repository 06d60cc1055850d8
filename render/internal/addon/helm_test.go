package addon

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	helm "helm.sh/helm/v4/pkg/engine"
	release "helm.sh/helm/v4/pkg/release/v1/util"
	"sigs.k8s.io/yaml"

	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// templates are texts whose ends Helm changes on their way to Kubernetes.
var templates = map[string]string{
	"trimmed":       "data:\n  a: |\n    text\n{{- /* end */ -}}\n",
	"trimmed twice": "data:\n  a: |\n    text\n\n\n{{- /* end */ -}}\n---\n" + head("b") + "data: {}\n",
	"no end":        "data:\n  a: |\n    text",
	"folded":        "data:\n  a: >\n    text\n    more\n{{- /* end */ -}}",
	"stripped":      "data:\n  a: |-\n    text\n",
	"kept":          "data:\n  a: |+\n    text\n\n",
	"kept, trimmed": "data:\n  a: |+\n    text\n\n{{- /* end */ -}}",
	"kept, between": "data:\n  a: |+\n    text\n---\n" + head("b") + "data:\n  a: |+\n    text\n\n---\n" + head("c") + "data: {a: b}\n",
	"kept, 2+":      "data:\n  a: |2+\n      text\n---\n" + head("b") + "data: {}\n",
	"in the middle": "data:\n  a: |\n    text\n---\n" + head("b") + "data:\n  a: |\n    more\n",
	"glued":         "data:\n  a: |\n    text\n---" + head("b") + "data:\n  a: |\n    more\n{{- /* end */ -}}\n",
	"nothing else":  "data:\n  a: |\n    {{- /* end */ -}}\n",
}

func head(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: a}\n"
}

// TestAsHelm: what a chart becomes is, object by object, what Helm itself sends
// to Kubernetes.
func TestAsHelm(t *testing.T) {
	for name, text := range templates {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"Chart.yaml": chartYAML, "templates/a.yaml": head("a") + text}
			want := sentByHelm(t, files)
			repository := fstest.MapFS{}
			for name, text := range files {
				repository["charts/a/"+name] = &fstest.MapFile{Data: []byte(text)}
			}
			engine := Engine{Repository: repository, Kubernetes: "1.36.0"}
			a := catalogue.Addon{Name: "a", Namespace: "a", Source: &catalogue.Source{Chart: &catalogue.Chart{Path: "charts/a"}}}
			result, err := engine.Render(t.Context(), a, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]any{}
			for _, o := range result.Objects {
				got[o.Name()] = map[string]any(o)["data"]
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// sentByHelm renders a chart with Helm's engine, takes its documents apart and
// puts them together as Helm's action for an installation does, and reads the
// result as Helm's client does: the data of its objects, by name.
func sentByHelm(t *testing.T, files map[string]string) map[string]any {
	t.Helper()
	var buffered []*archive.BufferedFile
	for _, name := range slices.Sorted(maps.Keys(files)) {
		buffered = append(buffered, &archive.BufferedFile{Name: name, Data: []byte(files[name])})
	}
	chart, err := loader.LoadFiles(buffered)
	if err != nil {
		t.Fatal(err)
	}
	values, err := util.ToRenderValues(chart, nil, common.ReleaseOptions{Name: "a", Namespace: "a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := helm.Render(chart, values)
	if err != nil {
		t.Fatal(err)
	}
	_, manifests, err := release.SortManifests(texts, nil, release.InstallOrder)
	if err != nil {
		t.Fatal(err)
	}
	var sent strings.Builder
	for _, m := range manifests {
		fmt.Fprintf(&sent, "---\n# Source: %s\n%s\n", m.Name, m.Content) // action.Configuration
	}
	all := map[string]any{}
	for document := range strings.SplitSeq(sent.String(), "---\n# Source:") {
		var o struct {
			Metadata struct{ Name string }
			Data     map[string]any
		}
		if err := yaml.Unmarshal([]byte("#"+document), &o); err != nil {
			t.Fatal(err)
		}
		if o.Metadata.Name != "" {
			all[o.Metadata.Name] = o.Data
		}
	}
	return all
}
