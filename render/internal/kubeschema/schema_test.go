package kubeschema

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/manifest"
)

var update = flag.Bool("update", false, "write what is expected again")

// The first line of a case is the version of Kubernetes.
func TestCheck(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txtar")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			objects := read(t, archive.Files[0].Data)
			s, err := New(strings.TrimSpace(string(archive.Comment)), objects)
			if err != nil {
				t.Fatal(err)
			}
			got := faultsOf(s, objects)
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "faults", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want := string(archive.Files[1].Data); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func faultsOf(s *Schemas, objects []manifest.Object) string {
	var b strings.Builder
	for _, o := range objects {
		fmt.Fprintf(&b, "%s", o.ID())
		if !s.Known(o) {
			b.WriteString(": no schema")
		}
		b.WriteString("\n")
		for _, f := range s.Check(o) {
			fmt.Fprintf(&b, "  %s: %s", f.Path, f.Text)
			if f.Hint != "" {
				fmt.Fprintf(&b, " (%s)", f.Hint)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func read(t *testing.T, text []byte) (objects []manifest.Object) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var o map[string]any
		if err := decoder.Decode(&o); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, o)
	}
}

func TestVersions(t *testing.T) {
	for version, good := range map[string]bool{"1.37.0": true, "v1.32": true, "1": false, "": false, "x.y": false} {
		if _, err := New(version, nil); (err == nil) != good {
			t.Errorf("%q: %v", version, err)
		}
	}
}
