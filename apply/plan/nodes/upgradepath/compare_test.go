package upgradepath_test

import (
	"testing"

	"github.com/talosgen/talosgen/apply/plan/nodes/upgradepath"
)

// TestOlderAndNewest: a text that is no version does not count, whichever it is; of
// equal versions the first is taken.
func TestOlderAndNewest(t *testing.T) {
	for _, c := range []struct{ a, b, older, newest string }{
		{"v1.13.9", "v1.14.1", "v1.13.9", "v1.14.1"},
		{"v1.14.1", "1.13.9", "1.13.9", "v1.14.1"},
		{"1.36.9", "1.36.10", "1.36.9", "1.36.10"},
		{"1.37.0", "1.37.0-rc.0", "1.37.0-rc.0", "1.37.0"},
		{"v1.37.0", "1.37.0", "v1.37.0", "v1.37.0"},
		{"", "1.37.0", "1.37.0", "1.37.0"},
		{"1.37.0", "", "1.37.0", "1.37.0"},
		{"latest", "1.37.0", "1.37.0", "1.37.0"},
		{"1.37.0", "latest", "1.37.0", "1.37.0"},
		{"", "", "", ""},
	} {
		if older, newest := upgradepath.Older(c.a, c.b), upgradepath.Newest(c.a, c.b); older != c.older || newest != c.newest {
			t.Errorf("%q, %q: older %q, newest %q", c.a, c.b, older, newest)
		}
	}
}
