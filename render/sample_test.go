package render_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/talosgen/talosgen/internal/charttest"
	"github.com/talosgen/talosgen/render/internal/chartlock"
	"github.com/talosgen/talosgen/testenv/toolenv"
)

// The sample of the topology issue renders as it stands: its infrastructure is
// the golden file of render/internal/infra, and Talos takes its nodes.
func TestSampleOfTheIssue(t *testing.T) {
	key := operatorKeys()[0]
	r := newRepo(t).operators(map[string]string{"prod": key.public})
	r.file("envs/prod/cluster.yaml", txtarFile(t, "internal/config/testdata/sample.txtar", "cluster.yaml"))
	r.initSecrets("prod", key.private).variables("prod", key.private, optionVariables)
	vendorSmall(t, r, chartlock.Reference{Repository: "https://helm.cilium.io", Name: "cilium", Version: "1.20.2"},
		chartlock.Reference{Repository: "https://kubernetes.github.io/ingress-nginx", Name: "ingress-nginx", Version: "4.15.1"})
	repo := r.open(key.private)
	mustWrite(t, repo, "prod")
	want := txtarFile(t, "internal/infra/testdata/sample.txtar", "infrastructure.yaml")
	if got := readFile(t, r.root, "rendered/prod/infrastructure.yaml"); got != want {
		t.Errorf("infrastructure.yaml is\n%s\nnot\n%s", got, want)
	}
	talosctl := toolenv.Talosctl(t, "1.13")
	dir := t.TempDir()
	nodes, err := repo.RenderedNodes("prod")
	if err != nil || len(nodes) != 6 {
		t.Fatalf("nodes %v, %v", nodes, err)
	}
	for _, n := range nodes {
		clear, err := repo.Show(context.Background(), "prod", n, true)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, dir, n, string(clear))
		if out, err := run(nil, talosctl, "validate", "--strict", "--mode", "cloud", "-c", filepath.Join(dir, n)); err != nil {
			t.Errorf("%s: %v\n%s", n, err, out)
		}
	}
}

// vendorSmall puts small charts in the place of those that addons need.
func vendorSmall(t *testing.T, r *testRepo, charts ...chartlock.Reference) {
	t.Helper()
	var lock chartlock.Lock
	for _, chart := range charts {
		archive := charttest.Small(chart.Name, chart.Version)
		entry := chartlock.Entry{Reference: chart, Resolved: chart.Version, Digest: chartlock.Digest(archive)}
		lock.Entries = append(lock.Entries, entry)
		r.file(chartlock.Dir+"/"+entry.FileName(), string(archive))
	}
	text, err := lock.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r.file(chartlock.File, string(text))
}

// txtarFile reads a file of an archive.
func txtarFile(t *testing.T, archive, name string) string {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	t.Fatalf("%s has no %s", archive, name)
	return ""
}
