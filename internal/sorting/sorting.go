// Package sorting sorts lists of structs. [slices.SortFunc] is compiled anew for each
// type, with all that it calls: 15 to 40 kB of the program for each kind of list.
package sorting

import (
	"cmp"
	"slices"
)

// By sorts a list in place. What compares as equal keeps its order.
func By[E any](list []E, compare func(a, b E) int) {
	before := slices.Clone(list)
	for i, from := range order(len(list), func(i, j int) int { return compare(before[i], before[j]) }) {
		list[i] = before[from]
	}
}

// order returns the indexes of a list in the order of what they stand for.
func order(n int, compare func(i, j int) int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, func(i, j int) int { return cmp.Or(compare(i, j), cmp.Compare(i, j)) })
	return all
}
