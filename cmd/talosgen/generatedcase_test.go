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

	"github.com/talosgen/talosgen/internal/generate"
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
