package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// cost is the CPU time of one thing with two programs, each in its best run: what other
// work adds to it differs from run to run.
type cost struct {
	what        string
	now, before time.Duration
}

// slack is what a run may cost more whatever the bound: a tenth of it is noise where a
// run takes a tenth of a second.
const slack = 20 * time.Millisecond

// costsOf are those of a row, by what was measured; none without another program.
func costsOf(row string, measured map[string][]sample) (costs []cost) {
	for what, samples := range measured {
		if len(samples) == 2 {
			costs = append(costs, cost{row + ", " + what, samples[0].least, samples[1].least})
		}
	}
	slices.SortFunc(costs, func(a, b cost) int { return cmp.Compare(a.what, b.what) })
	return costs
}

// dearer names what takes more than so many times what it took; 0 is no bound.
func dearer(costs []cost, bound float64) error {
	var errs []error
	for _, c := range costs {
		if bound > 0 && c.now > time.Duration(float64(c.before)*bound)+slack {
			errs = append(errs, fmt.Errorf("%s: %.3f s of CPU time, and %.3f s before", c.what, c.now.Seconds(), c.before.Seconds()))
		}
	}
	return errors.Join(errs...)
}
