package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/internal/generate"
)

// seedFlag runs the cases of one seed, or of a range of them, instead of those of
// the level:
//
//	go test ./cmd/talosgen -run TestGenerated -seed 17
//	go test ./cmd/talosgen -run TestGenerated -seed 970-1200
var seedFlag = seedRange{}

func init() {
	flag.Var(&seedFlag, "seed", "of the only generated repository to test, or the first and the last, as in 970-1200")
}

// seedRange is the first and the last seed; of none, both are 0.
type seedRange struct{ first, last uint64 }

// String is the range as [seedRange.Set] reads it.
func (r *seedRange) String() string {
	if r.first == r.last {
		return strconv.FormatUint(r.first, 10)
	}
	return fmt.Sprintf("%d-%d", r.first, r.last)
}

// Set reads "17" or "970-1200"; seeds begin with 1.
func (r *seedRange) Set(text string) error {
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		high = low
	}
	var err error
	if r.first, err = strconv.ParseUint(low, 10, 64); err != nil {
		return err
	}
	if r.last, err = strconv.ParseUint(high, 10, 64); err != nil {
		return err
	}
	if r.first == 0 || r.last < r.first {
		return errors.New("want a seed from 1, or a range such as 970-1200")
	}
	return nil
}

// nightlyVariable asks for the most.
const nightlyVariable = "TALOSGEN_TESTENV_NIGHTLY"

// seeds are those to test: so many that they have the cases that the levels fast,
// full and nightly want. cases counts those of a repository. The full level is bounded by
// twenty minutes of two cores, of which renders and lives have most; the other properties
// have their thousands every night.
func seeds(fast, full, nightly int, cases func(generate.Repository) int) (all []uint64) {
	if seedFlag.first > 0 {
		for seed := seedFlag.first; seed <= seedFlag.last; seed++ {
			all = append(all, seed)
		}
		return all
	}
	switch {
	case os.Getenv(nightlyVariable) != "":
		return firstSeeds(nightly, cases)
	case os.Getenv("TALOSGEN_TESTENV_FULL") != "":
		return firstSeeds(full, cases)
	}
	return firstSeeds(fast, cases)
}

// firstSeeds are the first that have so many cases; one that has none is left out.
func firstSeeds(want int, cases func(generate.Repository) int) (all []uint64) {
	for seed, found := uint64(1), 0; found < want; seed++ {
		if n := cases(generate.New(generate.Options{Seed: seed})); n > 0 {
			all, found = append(all, seed), found+n
		}
	}
	return all
}

// environments counts those of a repository.
func environments(r generate.Repository) int { return len(r.Environments) }

// lives is one if the life of a seed comes to an end without anybody's help.
func lives(r generate.Repository) int {
	if turnOf(generate.Options{Seed: r.Seed}).settles() {
		return 1
	}
	return 0
}

// TestSeeds: a level has as many cases as it names, and a range is what it says.
func TestSeeds(t *testing.T) {
	for text, want := range map[string]string{"17": "17", "970-1200": "970-1200", "5-5": "5", "0": "", "9-3": "", "-3": "", "x": "", "1-": ""} {
		var r seedRange
		switch err := r.Set(text); {
		case want == "" && err == nil:
			t.Errorf("%q is a range", text)
		case want != "" && (err != nil || r.String() != want):
			t.Errorf("%q is %q (%v)", text, r.String(), err)
		}
	}
	all := firstSeeds(10, environments)
	count := 0
	for _, seed := range all {
		count += environments(generate.New(generate.Options{Seed: seed}))
	}
	if count < 10 || all[0] != 1 || !slices.IsSorted(all) || len(all) > 10 {
		t.Errorf("%d has %d environments", all, count)
	}
	if text := strings.Trim(fmt.Sprint(firstSeeds(3, func(r generate.Repository) int { return int(r.Seed % 2) })), "[]"); text != "1 3 5" {
		t.Errorf("seeds %s, want those that have a case", text)
	}
}
