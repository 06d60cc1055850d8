package nodeconfig_test

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/talosgen/talosgen/apply/nodeplan/nodeconfig"
)

// Whatever two texts are compared, it ends without a panic; and a text is equal
// to itself.
func FuzzCompare(f *testing.F) {
	files, _ := filepath.Glob("testdata/compare/*.txtar")
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		in := sections(archive)
		f.Add(in["active"], in["desired"])
	}
	f.Fuzz(func(t *testing.T, active, desired string) {
		a, errA := nodeconfig.Parse("a", []byte(active))
		d, errD := nodeconfig.Parse("d", []byte(desired))
		if errA != nil || errD != nil {
			return
		}
		same, err := nodeconfig.Compare(a, a, nodeconfig.Running{})
		if err != nil || len(same.Changes)+len(same.Held) > 0 {
			t.Errorf("it differs from itself: %v, %v", same.Changes, err)
		}
		diff, err := nodeconfig.Compare(a, d, nodeconfig.Running{Talos: "v1.13.5", Kubernetes: "v1.35.0"})
		if err != nil || diff.Send.IsZero() {
			return
		}
		if _, err := nodeconfig.Parse("sent", []byte(diff.Send.Reveal())); err != nil {
			t.Errorf("what is sent cannot be read: %v", err)
		}
	})
}

// What a run that changes nothing costs for each node, and one that compares
// all of it.
func BenchmarkCompare(b *testing.B) {
	archive, err := txtar.ParseFile("testdata/compare/classes.txtar")
	if err != nil {
		b.Fatal(err)
	}
	in := sections(archive)
	for b.Loop() {
		a, err1 := nodeconfig.Parse("a", []byte(in["active"]))
		d, err2 := nodeconfig.Parse("d", []byte(in["desired"]))
		if err1 != nil || err2 != nil {
			b.Fatal(err1, err2)
		}
		if _, err := nodeconfig.Compare(a, d, nodeconfig.Running{}); err != nil {
			b.Fatal(err)
		}
	}
}
