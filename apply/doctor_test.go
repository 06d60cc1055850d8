package apply

import (
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/diag"
)

func TestCheck(t *testing.T) {
	b := newBench(t, demoInfrastructure)
	s := b.connect()
	found, err := s.Check(t.Context(), b.plan(s, Policy{}), nil)
	if err != nil || FailedChecks(found) != nil || !strings.Contains(FindingsText(found), "it is valid and may write") {
		t.Errorf("found\n%s(%v)", FindingsText(found), err)
	}
	wrong := []Finding{{Check: "limits", State: Wrong, Text: "too much", Hint: "less"}, {Check: "access", State: Warning}}
	if err := FailedChecks(wrong); diag.CodeOf(err) != diag.Remote || err.Error() != "limits: too much\n  less" {
		t.Errorf("error (%d) %v", diag.CodeOf(err), err)
	}
	wrong[0].Check = "token"
	if err := FailedChecks(wrong); diag.CodeOf(err) != diag.Secrets {
		t.Errorf("error (%d) %v", diag.CodeOf(err), err)
	}
}
