package ownership

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/internal/manifest"
)

var update = flag.Bool("update", false, "write what is expected again")

// A case is a repository: what is below nodes/ is the configuration of a
// control plane, below bootstrap/<addon>/ what talosgen applies, plan.json a
// plan of Terraform, and the rest is what Flux sees.
func TestConflicts(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	if len(files) < 15 {
		t.Fatalf("only %d cases", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := String(Conflicts(claimsOf(t, archive)))
			last := &archive.Files[len(archive.Files)-1]
			if last.Name != "conflicts" {
				t.Fatal("the last file is not what is expected")
			}
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(last.Data) {
				t.Errorf("got:\n%s\nwant:\n%s", got, last.Data)
			}
		})
	}
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
			add(OfTerraform(f.Name, f.Data, parse))
		case dir == "nodes":
			add(OfTalos(Machine{File: f.Name, Documents: documents(t, f.Data), Parse: parse}))
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

func located(t *testing.T, f txtar.File) (all []manifest.Located) {
	t.Helper()
	for _, d := range documents(t, f.Data) {
		all = append(all, manifest.Located{Object: d, Pos: diag.Pos{File: f.Name}})
	}
	return all
}

func parse(_ string, text []byte) (objects []manifest.Object, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var o map[string]any
		if err := decoder.Decode(&o); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
}

func documents(t *testing.T, text []byte) (all []map[string]any) {
	t.Helper()
	objects, err := parse("", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		all = append(all, o)
	}
	return all
}
