package natural_test

import (
	"testing"

	"github.com/talosgen/talosgen/internal/natural"
)

func TestCompare(t *testing.T) {
	sorted := []string{"", "a", "a-1", "a-2", "a-02", "a-10", "a-10b", "ab", "b"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := natural.Compare(a, b); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%q, %q: %d", a, b, got)
			}
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range []string{"0 nodes", "1 node", "2 nodes"} {
		if got := natural.Count(n, "node"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
