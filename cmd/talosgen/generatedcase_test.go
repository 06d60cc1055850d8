package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/generate"
)

const (
	// shrinkWithin is how long the smallest case of a failure is looked for: what
	// fails by waiting fails slowly.
	shrinkWithin = 2 * time.Minute
	// stuckAfter is how long a seed may take until it is named, in case that the
	// test is killed before it ends.
	stuckAfter = 3 * time.Minute
)

// each tests a property of generated repositories, several at once. Of the first
// that fails there is the smallest one that fails too, and how to run it again.
func each(t *testing.T, seeds []uint64, atOnce, tries int, property func(dir string, o generate.Options) error) {
	t.Helper()
	var failed atomic.Int32
	parallel(seeds, atOnce, func(seed uint64) {
		if failed.Load() > 2 {
			return // three show what is wrong
		}
		again := fmt.Sprintf("again: go test ./cmd/talosgen -run '^%s$' -seed %d", t.Name(), seed)
		stuck := time.AfterFunc(stuckAfter, func() { fmt.Fprintf(os.Stderr, "seed %d has not ended after %v; %s\n", seed, stuckAfter, again) })
		defer stuck.Stop()
		o := generate.Options{Seed: seed}
		err := inScratch(o, property)
		if err == nil || failed.Add(1) > 3 {
			return
		}
		until := time.Now().Add(shrinkWithin)
		small, last := smallest(o, tries, err, func() bool { return time.Now().After(until) }, property)
		r := generate.New(small)
		t.Errorf("seed %d: %v\n\nit needs only %q:\n%s\n%s", seed, last, r.Features, describe(r), again)
	})
}

// inScratch looks at a property in a folder of its own, which is gone then: there are
// thousands.
func inScratch(o generate.Options, property func(dir string, o generate.Options) error) error {
	dir, err := scratch()
	if err != nil {
		return err
	}
	return errors.Join(property(dir, o), os.RemoveAll(dir))
}

// smallest looks for the smallest repository that a property fails for as it did,
// in so many tries and until it is late, and returns what it fails of.
func smallest(o generate.Options, tries int, err error, late func() bool, property func(dir string, o generate.Options) error) (generate.Options, error) {
	last := err
	small := generate.Shrink(o, tries, func(r generate.Repository) bool {
		if late() {
			return false
		}
		e := inScratch(generate.Options{Seed: o.Seed, Without: r.Without}, property)
		if e == nil || !sameKind(e, err) {
			return false
		}
		last = e
		return true
	})
	return small, last
}

// TestSmallest: a case that fails is made smaller as long as there is time, and
// stays what it is where it fails of something else.
func TestSmallest(t *testing.T) {
	o := generate.Options{Seed: 162}
	whole := len(generate.New(o).Features)
	fails := as("it", errors.New("fails"))
	for name, c := range map[string]struct {
		late  int // after so many tries
		fails func(n int) error
		runs  int
		want  func(left int) bool
	}{
		"smaller":        {100, func(int) error { return fails }, 20, func(left int) bool { return left < whole }},
		"no time":        {0, func(int) error { return fails }, 0, func(left int) bool { return left == whole }},
		"little time":    {2, func(int) error { return fails }, 2, func(left int) bool { return left < whole }},
		"something else": {100, func(int) error { return as("that", errors.New("fails")) }, 20, func(left int) bool { return left == whole }},
		"it is well":     {100, func(int) error { return nil }, 20, func(left int) bool { return left == whole }},
	} {
		runs := 0
		small, last := smallest(o, 20, fails, func() bool { return runs >= c.late }, func(string, generate.Options) error {
			runs++
			return c.fails(runs)
		})
		if left := len(generate.New(small).Features); runs > c.runs || !c.want(left) || !sameKind(last, fails) {
			t.Errorf("%s: %d features are left of %d after %d tries (%v)", name, left, whole, runs, last)
		}
	}
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
