package apply

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/apply/preflight"
	"github.com/talosgen/talosgen/internal/diag"
)

func TestCheck(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	s := b.connect()
	found, err := s.Check(t.Context(), b.plan(s, Policy{}), nil)
	if err != nil || preflight.Failures(found) != nil || !strings.Contains(preflight.Text(found), "it is valid and may write") {
		t.Errorf("found\n%s(%v)", preflight.Text(found), err)
	}
	wrong := []preflight.Finding{{Check: "limits", State: preflight.Failed, Text: "too much", Hint: "less"}, {Check: "access", State: preflight.Warning}}
	if err := preflight.Failures(wrong); diag.CodeOf(err) != diag.Remote || err.Error() != "limits: too much\n  less" {
		t.Errorf("error (%d) %v", diag.CodeOf(err), err)
	}
	wrong[0].Check = "token"
	if err := preflight.Failures(wrong); diag.CodeOf(err) != diag.Secrets {
		t.Errorf("error (%d) %v", diag.CodeOf(err), err)
	}
}
