package treecheck

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/render/internal/ownership"
)

// The comment of a case begins with the directory that is checked. One below
// rendered/ is a rendered tree.
func TestTrees(t *testing.T) {
	casetest.RunOne(t, "testdata/*.txtar", "report", func(t *testing.T, c casetest.Case) string {
		tree := treeOf(c.Archive)
		dir, _, _ := strings.Cut(c.Comment(), "\n")
		in := Input{Repository: tree, Dir: dir, Rendered: strings.HasPrefix(dir, "rendered/")}
		var err error
		if in.Terraform, err = fs.ReadFile(tree, "plan.json"); err == nil {
			in.TerraformFile = "plan.json"
		}
		report, err := Check(in)
		if err != nil {
			t.Fatal(err)
		}
		return reportText(report)
	})
}

func treeOf(a *txtar.Archive) fstest.MapFS {
	tree := fstest.MapFS{}
	for _, f := range a.Files {
		tree[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return tree
}

func reportText(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d objects for Kubernetes %s, %d claims\n", r.Objects, r.Kubernetes, len(r.Claims))
	if err := r.Problems.Err(); err != nil {
		fmt.Fprintf(&b, "%v\n", err)
	}
	b.WriteString(ownership.String(r.Conflicts))
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	return b.String()
}

func TestNothingThere(t *testing.T) {
	if _, err := Check(Input{Repository: os.DirFS(t.TempDir()), Dir: "none"}); err == nil {
		t.Error("a directory that is not there was checked")
	}
}

// What cannot be read is an error or a problem, never absent.
func TestUnreadable(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/rendered.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tree := treeOf(archive)
	for _, f := range archive.Files {
		if !strings.HasPrefix(f.Name, "rendered/dev/") || strings.Count(f.Name, "/") == 2 {
			continue
		}
		report, err := Check(Input{Repository: broken{tree, f.Name}, Dir: "rendered/dev", Rendered: true})
		if err == nil && !strings.Contains(fmt.Sprint(report.Problems.Err()), f.Name) {
			t.Errorf("%s cannot be read, and nobody says so", f.Name)
		}
	}
}

type broken struct {
	fs.FS
	file string
}

func (b broken) ReadFile(name string) ([]byte, error) {
	if name == b.file {
		return nil, fs.ErrPermission
	}
	return fs.ReadFile(b.FS, name)
}

// A directory that needs kustomize is built by it.
func TestBuild(t *testing.T) {
	tree := treeOf(txtar.Parse([]byte(`-- flux/k.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: a, namespace: kube-system}
spec: {path: app}
-- app/kustomization.yaml --
namePrefix: x-
resources: [a.yaml]
-- app/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: default}
`)))
	built := manifest.Object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x-a", "namespace": "default"}}
	report, err := Check(Input{Repository: tree, Dir: ".", Build: func(dir string) ([]manifest.Located, error) {
		return []manifest.Located{{Object: built}}, nil
	}})
	if err != nil || len(report.Claims) != 1 || report.Claims[0].Thing.Object.Name != "x-a" {
		t.Errorf("%+v, %v", report, err)
	}
}
