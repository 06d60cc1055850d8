package references

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/internal/manifest"
)

func TestCheck(t *testing.T) {
	casetest.Run(t, "testdata/*.txtar", "dangling", func(t *testing.T, archive *txtar.Archive) string {
		objects, err := manifest.Parse(archive.Files[0].Name, archive.Files[0].Data)
		if err != nil {
			t.Fatal(err)
		}
		w := World{Objects: objects, Directory: func(path string) bool { return path == "there" }}
		var got strings.Builder
		for _, d := range Check(w) {
			fmt.Fprintf(&got, "%s %s → %s\n", d.From, d.Path, d.To)
		}
		return got.String()
	})
}
