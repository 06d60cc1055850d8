package main

import (
	"fmt"
	"testing"
	"time"
)

// Charts have bounds of their own, and their best run is judged.
func TestTooDear(t *testing.T) {
	for _, c := range []struct {
		scratch, same time.Duration
		want          string
	}{
		{chartsFromScratch, chartsUnchanged, "<nil>"},
		{chartsFromScratch + time.Millisecond, 0, "12 charts, from scratch: 1.501 s of CPU time, and the bound is 1.500 s"},
		{0, chartsUnchanged + time.Millisecond, "12 charts, nothing changed: 0.201 s of CPU time, and the bound is 0.200 s"},
	} {
		measured := map[string][]sample{fromScratch: {{least: c.scratch, cpu: time.Hour}}, nothingChanged: {{least: c.same, cpu: time.Hour}}}
		if got := fmt.Sprint(tooDear(measured)); got != c.want {
			t.Errorf("%s and %s: %s, want %s", c.scratch, c.same, got, c.want)
		}
	}
}

func TestDearer(t *testing.T) {
	for _, c := range []struct {
		now, before int // milliseconds
		bound       float64
		want        string
	}{
		{2000, 100, 0, "<nil>"},
		{100, 100, 1, "<nil>"},
		{120, 100, 1, "<nil>"},
		{121, 100, 1, "1.14 | 6, from scratch: 0.121 s of CPU time, and 0.100 s before"},
		{1270, 1000, 1.25, "<nil>"},
		{1271, 1000, 1.25, "1.14 | 6, from scratch: 1.271 s of CPU time, and 1.000 s before"},
		{500, 1000, 1.25, "<nil>"},
	} {
		samples := []sample{{least: time.Duration(c.now) * time.Millisecond}, {least: time.Duration(c.before) * time.Millisecond}}
		costs := costsOf("1.14 | 6", map[string][]sample{"from scratch": samples})
		if got := fmt.Sprint(dearer(costs, c.bound)); got != c.want {
			t.Errorf("%d ms, %d before, bound %v: %s, want %s", c.now, c.before, c.bound, got, c.want)
		}
	}
	if got := costsOf("1.14 | 6", map[string][]sample{"from scratch": {{}}}); len(got) > 0 {
		t.Errorf("with one program: %v", got)
	}
}

// A build is compared with that of the first checkout, however many there are.
func TestDearerBuild(t *testing.T) {
	took := func(seconds int) []sample { return []sample{{cpu: time.Duration(seconds) * time.Second}} }
	for _, c := range []struct {
		builds [][]sample
		bound  float64
		want   string
	}{
		{[][]sample{took(462), took(479)}, 1, "build from nothing: 479.000 s of CPU time, and 462.000 s before"},
		{[][]sample{took(462), took(500), took(400)}, 1, "<nil>"},
		{[][]sample{took(462), took(400), took(500)}, 1, "build from nothing: 500.000 s of CPU time, and 462.000 s before"},
		{[][]sample{took(462), took(479)}, 0, "<nil>"},
		{[][]sample{took(479)}, 1, "<nil>"},
	} {
		if got := fmt.Sprint(dearer(costOfBuild(c.builds), c.bound)); got != c.want {
			t.Errorf("%v, bound %v: %s, want %s", c.builds, c.bound, got, c.want)
		}
	}
}
