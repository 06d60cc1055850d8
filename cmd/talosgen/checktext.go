package main

import (
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/internal/diag"
)

// sameCause is how often a thing that is missing is reported; who misses it beyond that is
// counted.
const sameCause = 3

// problemLines are the problems of a tree for people: one thing that is missing can be
// missed by hundreds of objects.
func problemLines(problems diag.List) (lines []string) {
	all := map[string]int{}
	for _, p := range problems {
		all[missing(p)]++
	}
	reported := map[string]int{}
	for _, p := range problems {
		thing := missing(p)
		reported[thing]++
		switch more := all[thing] - sameCause; {
		case thing == "" || reported[thing] <= sameCause || more == 1:
			lines = append(lines, p.Error())
		case reported[thing] == sameCause+1:
			lines = append(lines, fmt.Sprintf("%d more: there is no %s (-o json has all)", more, thing))
		}
	}
	return lines
}

// missing is what a problem says that is not there; empty if it is of another kind.
func missing(p *diag.Problem) string {
	_, thing, _ := strings.Cut(p.Message, ": there is no ")
	return thing
}
