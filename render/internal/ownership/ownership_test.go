package ownership

import (
	"bytes"
	"errors"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/internal/manifest"
)

// A case is a repository: what is below nodes/ is the configuration of a
// control plane, below bootstrap/<addon>/ what talosgen applies, plan.json a
// plan of Terraform, and the rest is what Flux sees.
func TestConflicts(t *testing.T) {
	if cases := casetest.Cases(t, "testdata/*.txtar"); len(cases) < 15 {
		t.Fatalf("only %d cases", len(cases))
	}
	casetest.RunOne(t, "testdata/*.txtar", "conflicts", func(t *testing.T, c casetest.Case) string {
		return String(Conflicts(claimsOf(t, c.Archive)))
	})
}

func claimsOf(t *testing.T, archive *txtar.Archive) (claims []Claim) {
	t.Helper()
	add := func(more []Claim, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, more...)
	}
	var flux []manifest.Located
	for _, f := range archive.Files {
		dir, _, _ := strings.Cut(f.Name, "/")
		switch {
		case f.Name == "conflicts":
		case f.Name == "plan.json":
			add(OfTerraform(f.Name, f.Data, manifest.Parse))
		case dir == "nodes":
			add(OfTalos(Machine{File: f.Name, Documents: documents(t, f.Data), Parse: manifest.Parse}))
		case dir == "bootstrap":
			for _, o := range located(t, f) {
				claims = append(claims, OfObject(o.Object, Claim{Owner: Owner{Talosgen, path.Dir(f.Name)}, Pos: o.Pos})...)
			}
		default:
			flux = append(flux, located(t, f)...)
		}
	}
	add(OfFlux(flux, func(dir string) (in []manifest.Located, err error) {
		for _, o := range flux {
			if dir == "." || strings.HasPrefix(o.Pos.File, dir+"/") {
				in = append(in, o)
			}
		}
		return in, nil
	}))
	return claims
}

func located(t *testing.T, f txtar.File) []manifest.Located {
	t.Helper()
	all, err := manifest.LocateAny(f.Name, f.Data)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// documents reads the configuration of a machine, whose documents are no
// objects.
func documents(t *testing.T, text []byte) (all []map[string]any) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var d map[string]any
		if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
}
