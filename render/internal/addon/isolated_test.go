package addon

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/talosgen/talosgen/render/internal/catalogue"
	"github.com/talosgen/talosgen/render/internal/chartlock"
)

// watched is a file system that remembers what was opened.
type watched struct {
	fs.FS
	opened *[]string
}

// Open opens a file.
func (w watched) Open(name string) (fs.File, error) {
	*w.opened = append(*w.opened, name)
	return w.FS.Open(name)
}

// TestIsolated: whatever the environment of the process says, the result is the
// same, and nothing is read but the chart.
func TestIsolated(t *testing.T) {
	repository := fstest.MapFS{
		"charts/a/Chart.yaml":       {Data: []byte(chartYAML)},
		"charts/a/templates/a.yaml": {Data: []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {file: {{ .Files.Get \"/etc/hostname\" | quote }}, up: {{ .Files.Get \"../../secret\" | quote }}, kube: \"{{ .Capabilities.KubeVersion }}\", helm: {{ .Capabilities.HelmVersion | toJson | quote }}}\n")},
		"secret":                    {Data: []byte("secret-canary")},
		"charts/other/secret.yaml":  {Data: []byte("secret-canary")},
	}
	render := func() string {
		var opened []string
		engine := Engine{Repository: watched{repository, &opened}, Kubernetes: "1.33.4"}
		a := catalogue.Addon{Name: "a", Source: &catalogue.Source{Chart: &catalogue.Chart{Path: "charts/a"}}}
		result, err := engine.Render(t.Context(), a, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range opened {
			if !strings.HasPrefix(name, "charts/a") {
				t.Errorf("%s was opened", name)
			}
		}
		return text(t, result.Objects)
	}
	before := render()
	if !strings.Contains(before, `file: ""`) || !strings.Contains(before, "kube: v1.33.4") || strings.Contains(before, "canary") {
		t.Errorf("got\n%s", before)
	}
	home := t.TempDir()
	for _, name := range []string{"HOME", "HELM_CONFIG_HOME", "HELM_CACHE_HOME", "HELM_DATA_HOME", "HELM_PLUGINS", "HELM_REPOSITORY_CONFIG", "KUSTOMIZE_PLUGIN_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, filepath.Join(home, "elsewhere"))
	}
	t.Setenv("HELM_NAMESPACE", "from-environment")
	t.Setenv("HELM_KUBEAPISERVER", "https://example.com")
	t.Setenv("TZ", "Asia/Tokyo")
	if after := render(); after != before {
		t.Errorf("another environment gives\n%s\nbefore\n%s", after, before)
	}
}

// TestWrongChart: an archive that holds another chart than was asked for.
func TestWrongChart(t *testing.T) {
	engine := Engine{Kubernetes: "1.37.1", Artifact: func(chartlock.Reference) (chartlock.Artifact, error) {
		return chartlock.Artifact{Path: "charts/b-1.0.0.tgz", Data: pack(t, entry{name: "a/Chart.yaml", text: chartYAML})}, nil
	}}
	a := catalogue.Addon{Name: "b", Source: &catalogue.Source{Chart: &catalogue.Chart{Repository: "https://example.com", Name: "b", Version: "1.0.0"}}}
	_, err := engine.Render(t.Context(), a, nil)
	if err == nil || !strings.Contains(err.Error(), "the chart a 1.0.0 is not the one that was asked for, b") {
		t.Error(err)
	}
}

// BenchmarkRender renders a chart of the size of the largest in wide use: 200
// templates that write 400 objects.
func BenchmarkRender(b *testing.B) {
	repository := fstest.MapFS{
		"a/Chart.yaml":             {Data: []byte(chartYAML)},
		"a/values.yaml":            {Data: []byte("labels: {a: b}\nreplicas: 1\n")},
		"a/templates/_helpers.tpl": {Data: []byte("{{ define \"a.labels\" }}{{ toYaml .Values.labels }}{{ end }}")},
	}
	for i := range 200 {
		repository[fmt.Sprintf("a/templates/%d.yaml", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, `apiVersion: apps/v1
kind: Deployment
metadata:
  name: d-%[1]d
  labels: {{- include "a.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  template: {spec: {containers: [{name: c, image: "x:{{ .Chart.Version }}", args: [{{ range until 20 }}"--flag={{ . }}", {{ end }}]}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c-%[1]d}
data:
  file: |
    {{- range until 20 }}
    line {{ . }}
    {{- end }}
`, i)}
	}
	engine := Engine{Repository: repository, Kubernetes: "1.37.1"}
	a := catalogue.Addon{Name: "a", Source: &catalogue.Source{Chart: &catalogue.Chart{Path: "a"}}}
	for b.Loop() {
		if _, err := engine.Render(b.Context(), a, nil); err != nil {
			b.Fatal(err)
		}
	}
}
