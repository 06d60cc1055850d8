package execute

import (
	"context"
	"fmt"
	"strings"
	"testing"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
)

// TestPanic arrives where the run was begun, which masks what it says.
func TestPanic(t *testing.T) {
	defer func() {
		if said := fmt.Sprint(recover()); !strings.HasPrefix(said, "broken\n\n") || !strings.Contains(said, "panic_test.go") {
			t.Errorf("panic %q", said)
		}
	}()
	_ = Run(t.Context(), []cloudplan.Change{{Key: "a"}}, func(context.Context, cloudplan.Change) error { panic("broken") }, Options[cloudplan.Change]{})
}
