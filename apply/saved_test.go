package apply

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

// TestSaved keeps a plan in a file, and makes it a plan again as long as nothing
// that it is about has changed.
func TestSaved(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	text, err := b.plan(b.connect(), Policy{}).Save()
	if err != nil {
		t.Fatal(err)
	}
	saved, err := LoadPlan("plan.json", text)
	if err != nil {
		t.Fatal(err)
	}
	s := b.connect()
	p, err := s.Resume(t.Context(), saved, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Apply(t.Context(), p, Policy{}, Owner{Name: "ann@desk", Run: "1"}); err != nil || len(r.Done) != 6 {
		t.Errorf("done %v (%v)", keys(r.Done), err)
	}
	if _, err = b.connect().Resume(t.Context(), saved, Policy{}); diag.CodeOf(err) != diag.Conflict {
		t.Errorf("the second time: error (%d) %v", diag.CodeOf(err), err)
	}
	if _, err := LoadPlan("plan.json", []byte("{}")); diag.CodeOf(err) != diag.Input || !strings.HasPrefix(err.Error(), "plan.json: ") {
		t.Errorf("an empty file: error %v", err)
	}
}
