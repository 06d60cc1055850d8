package references

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
			w := World{Objects: read(t, archive.Files[0].Data), Directory: func(path string) bool { return path == "there" }}
			var got strings.Builder
			for _, d := range Check(w) {
				fmt.Fprintf(&got, "%s %s → %s\n", d.From, d.Path, d.To)
			}
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "dangling", Data: []byte(got.String())})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want := string(archive.Files[1].Data); got.String() != want {
				t.Errorf("got:\n%s\nwant:\n%s", got.String(), want)
			}
		})
	}
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
