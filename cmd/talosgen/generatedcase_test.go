package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
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

// seeds are those to test: so many in the levels fast, full and nightly.
func seeds(fast, full, nightly int) (all []uint64) {
	if seedFlag.first > 0 {
		for seed := seedFlag.first; seed <= seedFlag.last; seed++ {
			all = append(all, seed)
		}
		return all
	}
	count := fast
	switch {
	case os.Getenv(nightlyVariable) != "":
		count = nightly
	case os.Getenv("TALOSGEN_TESTENV_FULL") != "":
		count = full
	}
	for n := range count {
		all = append(all, uint64(n)+1)
	}
	return all
}

// each tests a property of generated repositories, several at once. Of the first
// that fails there is the smallest one that fails too, and how to run it again.
func each(t *testing.T, seeds []uint64, atOnce, tries int, property func(dir string, o generate.Options) error) {
	t.Helper()
	var failed atomic.Int32
	parallel(seeds, atOnce, func(seed uint64) {
		if failed.Load() > 2 {
			return // three show what is wrong
		}
		o := generate.Options{Seed: seed}
		err := property(t.TempDir(), o)
		if err == nil || failed.Add(1) > 3 {
			return
		}
		var last error
		small := generate.Shrink(o, tries, func(r generate.Repository) bool {
			o := generate.Options{Seed: seed, Without: r.Without}
			dir, e := os.MkdirTemp("", "talosgen-shrink-")
			if e != nil {
				return false
			}
			defer os.RemoveAll(dir)
			e = property(dir, o)
			if e != nil && sameKind(e, err) {
				last = e
				return true
			}
			return false
		})
		r := generate.New(small)
		t.Errorf("seed %d: %v\n\nit needs only %q:\n%s\nagain: go test ./cmd/talosgen -run '^%s$' -seed %d",
			seed, first(last, err), r.Features, describe(r), t.Name(), seed)
	})
}

// sameKind reports whether two errors begin alike.
func sameKind(a, b error) bool {
	kind := func(err error) string {
		var k *kindError
		if errors.As(err, &k) {
			return k.kind
		}
		return ""
	}
	return kind(a) == kind(b)
}

// kindError is what a case fails of.
type kindError struct {
	kind string
	err  error
}

// Error says what it is, and more.
func (e *kindError) Error() string { return e.kind + ": " + e.err.Error() }

// Unwrap is what it wraps.
func (e *kindError) Unwrap() error { return e.err }

// as gives an error its kind; nil stays nil.
func as(kind string, err error) error {
	if err == nil {
		return nil
	}
	return &kindError{kind, err}
}

// describe is a repository in one text.
func describe(r generate.Repository) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		fmt.Fprintf(&b, "-- %s --\n%s", name, r.Files[name])
	}
	return b.String()
}

// parallel does something for each of a list, so many at once.
func parallel[T any](all []T, atOnce int, do func(T)) {
	work := make(chan T)
	var group sync.WaitGroup
	for range atOnce {
		group.Go(func() {
			for item := range work {
				do(item)
			}
		})
	}
	for _, item := range all {
		work <- item
	}
	close(work)
	group.Wait()
}

// first is the first error that is one.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
