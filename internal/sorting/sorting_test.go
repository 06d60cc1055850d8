package sorting_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/talosgen/talosgen/internal/sorting"
)

type item struct{ key, place int }

func compareKeys(a, b item) int { return cmp.Compare(a.key, b.key) }

// TestBy: the order is that of a stable sort of the standard library, for lists of
// any length with few and with many equal keys.
func TestBy(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		list := make([]item, n)
		for i := range list {
			list[i] = item{random.IntN(1 + n/(1+n%5)), i}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, compareKeys)
		if sorting.By(list, compareKeys); !slices.Equal(list, want) {
			t.Fatalf("%d: %v, want %v", n, list, want)
		}
	}
}

// TestByOfNothing leaves an empty list alone.
func TestByOfNothing(t *testing.T) {
	sorting.By[item](nil, func(item, item) int { panic("nothing to compare") })
	sorting.By([]item{{1, 1}}, func(item, item) int { panic("nothing to compare") })
}
