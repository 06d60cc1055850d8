package upgrade_test

import (
	"testing"

	"github.com/talosgen/talosgen/apply/plan/upgrade"
)

// TestMark: what is written is read again, and what is not understood is an error.
func TestMark(t *testing.T) {
	for _, m := range []upgrade.Mark{
		{Phase: upgrade.Installing, Version: "1.14.1", Schematic: now, Boot: "b", Try: 1, Run: "ci of me"},
		{Phase: upgrade.Failed, Version: "1.13.9", Boot: "b", Try: 2},
	} {
		if read, err := upgrade.ParseMark(m.String()); err != nil || *read != m {
			t.Errorf("%s: %v, %v", m, read, err)
		}
	}
	for _, text := range []string{"", "installing", "later 1.14.1 - boot=b try=1 run=", "installing 1.14.1 - boot=b try=x run=", "installing 1.14.1 - boot=b 1 run="} {
		if m, err := upgrade.ParseMark(text); err == nil {
			t.Errorf("%q is read as %v", text, m)
		}
	}
}
