package addon

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/catalogue"
)

// TestUpstreamCharts renders the charts in the directory that
// $TALOSGEN_CHARTS_DIR names, archives and directories, twice: both must give
// the same bytes. <name>.values.yaml beside a chart are its values; hooks are
// kept.
func TestUpstreamCharts(t *testing.T) {
	dir := os.Getenv("TALOSGEN_CHARTS_DIR")
	if dir == "" {
		t.Skip("TALOSGEN_CHARTS_DIR names no directory with charts")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) != ".tgz" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, e.Name(), "Chart.yaml")); e.IsDir() && err != nil {
			continue // plain manifests
		}
		t.Run(e.Name(), func(t *testing.T) {
			first, objects := renderUpstream(t, dir, e.Name())
			second, _ := renderUpstream(t, dir, e.Name())
			if !bytes.Equal(first, second) {
				t.Error("the second time gives something else")
			}
			t.Logf("%d objects, %d bytes", objects, len(first))
		})
	}
}

func renderUpstream(t *testing.T, dir, name string) ([]byte, int) {
	t.Helper()
	var values map[string]any
	text, err := os.ReadFile(filepath.Join(dir, strings.TrimSuffix(name, ".tgz")+".values.yaml"))
	if err == nil {
		err = yaml.Unmarshal(text, &values)
	} else if os.IsNotExist(err) {
		err = nil
	}
	if err != nil {
		t.Fatal(err)
	}
	engine := Engine{Repository: os.DirFS(dir), Kubernetes: "1.37.1"}
	a := catalogue.Addon{Name: "upstream", Namespace: "upstream", Hooks: catalogue.KeepHooks, Origin: name,
		Source: &catalogue.Source{Chart: &catalogue.Chart{Path: name}}}
	result, err := engine.Render(t.Context(), a, values)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range result.Warnings {
		t.Logf("warning: %s", w.Message)
	}
	all := append(result.CRDs, result.Objects...)
	encoded, err := manifest.Encode(all...)
	if err != nil {
		t.Fatal(err)
	}
	return encoded, len(all)
}
