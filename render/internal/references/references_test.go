package references

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/internal/manifest"
)

func TestCheck(t *testing.T) {
	casetest.RunOne(t, "testdata/*.txtar", "dangling", func(t *testing.T, c casetest.Case) string {
		objects, err := manifest.Parse(c.File, c.First())
		if err != nil {
			t.Fatal(err)
		}
		w := Sources{Objects: objects, Directory: func(path string) bool { return path == "there" }}
		var got strings.Builder
		for _, d := range Check(w) {
			fmt.Fprintf(&got, "%s %s → %s\n", d.From, d.Path, d.To)
		}
		return got.String()
	})
}
