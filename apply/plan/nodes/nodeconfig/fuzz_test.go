package nodeconfig_test

import (
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/nodeconfig"
	"github.com/talosgen/talosgen/internal/casetest"
)

// Whatever two texts are compared, it ends without a panic; and a text is equal
// to itself.
func FuzzCompare(f *testing.F) {
	for _, c := range casetest.Cases(f, "testdata/compare/*.txtar") {
		f.Add(c.Texts["active"], c.Texts["desired"])
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
	in := casetest.Cases(b, "testdata/compare/classes.txtar")[0].Texts
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
