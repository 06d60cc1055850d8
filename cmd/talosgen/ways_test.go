package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/talosgen/talosgen/internal/manifest"
	"github.com/talosgen/talosgen/testenv/kubeenv"
)

// waysIn are the addons of the catalogue whose objects are of kinds that others
// define.
var waysIn = []string{"cert-manager-issuers", "gateway", "service-addresses"}

// TestWaysAtRealServer lets a real API server take what the catalogue has for ways in,
// and what the component for HTTPS makes of Ingresses and HTTPRoutes, as the cases and
// the script have it: no field is unknown to it or to the definitions in testdata, and
// no value is refused.
func TestWaysAtRealServer(t *testing.T) {
	t.Parallel()
	c := kubeenv.Start(t, kubeenv.Own())
	definitions, err := os.ReadFile("testdata/ways/crds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, crd := range c.Apply(t, "test", false, string(definitions)) {
		c.WaitFor(t, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+crd.Text("metadata", "name"), isEstablished, time.Minute)
		seen[crd.Text("spec", "names", "kind")] = 0
	}
	apply := func(t *testing.T, objects []manifest.Object) {
		for _, o := range objects {
			if o.Namespace() != "" {
				c.Apply(t, "test", true, "{apiVersion: v1, kind: Namespace, metadata: {name: "+o.Namespace()+"}}")
			}
			c.Apply(t, "test", true, encoded(t, o))
			seen[o.Kind()]++
		}
	}
	apply(t, wantWeb(t))
	files, err := filepath.Glob("../../render/internal/catalogue/testdata/cases/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { apply(t, wayObjects(t, file)) })
	}
	for kind, count := range seen {
		if count == 0 {
			t.Errorf("no %s was applied", kind)
		}
	}
	if seen["Ingress"] < 3 || seen["HTTPRoute"] < 3 {
		t.Errorf("applied only %v", seen)
	}
}

func isEstablished(o kubeenv.Object) bool {
	return slices.ContainsFunc(o.List("status", "conditions"), func(condition any) bool {
		fields, _ := condition.(map[string]any)
		return fields["type"] == "Established" && fields["status"] == "True"
	})
}

// wantWeb are the objects that the component for HTTPS makes in its script.
func wantWeb(t *testing.T) []manifest.Object {
	archive, err := txtar.ParseFile("../../testdata/script/https-component.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == "want-web" {
			return manifests(t, f.Name, string(f.Data))
		}
	}
	t.Fatal("the script has no want-web")
	return nil
}

// wayObjects are the objects of ways in that a case of the catalogue expects.
func wayObjects(t *testing.T, file string) (all []manifest.Object) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name != "addons.yaml" {
			continue
		}
		for _, section := range bytes.Split(f.Data, []byte("\n### "))[1:] {
			name, text, _ := strings.Cut(string(section), "\n")
			if !slices.Contains(waysIn, name) {
				continue
			}
			for _, doc := range strings.Split("\n"+text, "\n---\n") {
				if strings.HasPrefix(doc, "apiVersion:") {
					all = append(all, manifests(t, f.Name, doc)...)
				}
			}
		}
	}
	return all
}
