package address

import (
	"slices"
	"testing"
)

func places(list ...int) Places {
	p := Places{}
	p.Add(0, list)
	return p
}

func span(from, to int) (list []int) {
	for i := from; i <= to; i++ {
		list = append(list, i)
	}
	return list
}

func TestFreeOffset(t *testing.T) {
	for _, tt := range []struct {
		taken   []int
		indexes []int
		room    int
		want    int
		ok      bool
	}{
		{nil, span(1, 3), 122, 0, true},
		{span(1, 3), span(1, 3), 122, 10, true},
		{span(1, 5), nil, 122, 10, true},
		{span(1, 6), span(1, 3), 122, 20, true},
		{span(1, 118), span(1, 4), 122, 118, true},  // no room for growth
		{span(20, 118), span(1, 4), 122, 0, true},   // in front
		{span(1, 118), span(1, 5), 122, 0, false},   // too many
		{span(1, 118), []int{1, 4}, 122, 118, true}, //
		{append(span(1, 3), span(15, 118)...), []int{1, 2, 4}, 122, 10, true},
		{span(1, 122), nil, 122, 0, false},
	} {
		if got, ok := places(tt.taken...).FreeOffset(tt.indexes, tt.room); got != tt.want && ok || ok != tt.ok {
			t.Errorf("taken %v, indexes %v: got %d, %t, want %d, %t", tt.taken, tt.indexes, got, ok, tt.want, tt.ok)
		}
	}
}

func TestFreeIndexes(t *testing.T) {
	for _, tt := range []struct {
		taken  []int
		have   []int
		offset int
		count  int
		want   []int // nil: there is no room
	}{
		{nil, nil, 0, 3, []int{1, 2, 3}},
		{nil, span(1, 5), 0, 3, []int{1, 2, 3}},
		{nil, []int{5, 3, 1}, 0, 2, []int{1, 3}},
		{nil, []int{1, 3}, 0, 3, []int{1, 2, 3}},
		{nil, []int{1, 3}, 0, 4, []int{1, 2, 3, 4}},
		{[]int{4, 5}, []int{1, 2, 3}, 0, 5, []int{1, 2, 3, 6, 7}},
		{[]int{4, 5, 14}, []int{1}, 10, 5, []int{1, 2, 3, 5, 6}},
		{nil, nil, 10, 0, []int{}},
		{nil, nil, 15, 6, nil},
	} {
		got, ok := places(tt.taken...).FreeIndexes(tt.have, tt.offset, tt.count, 20)
		if !slices.Equal(got, tt.want) || ok != (tt.want != nil) {
			t.Errorf("taken %v, have %v, offset %d, count %d: got %v, %t, want %v", tt.taken, tt.have, tt.offset, tt.count, got, ok, tt.want)
		}
	}
}
