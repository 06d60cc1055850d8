package kubeschema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/casetest"
	"github.com/talosgen/talosgen/internal/manifest"
)

// The first line of a case is the version of Kubernetes.
func TestCheck(t *testing.T) {
	casetest.RunOne(t, "testdata/*.txtar", "faults", func(t *testing.T, c casetest.Case) string {
		objects, err := manifest.Parse(c.File, c.First())
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(strings.TrimSpace(c.Comment()), objects)
		if err != nil {
			t.Fatal(err)
		}
		return faultsOf(s, objects)
	})
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

func TestVersions(t *testing.T) {
	for version, good := range map[string]bool{"1.37.0": true, "v1.32": true, "1": false, "": false, "x.y": false} {
		if _, err := New(version, nil); (err == nil) != good {
			t.Errorf("%q: %v", version, err)
		}
	}
}
