package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/talosgen/talosgen/testenv/internal/cache"
)

func folders(names string) (modules []cache.Module) {
	for _, name := range strings.Fields(names) {
		modules = append(modules, cache.Module{Folder: name})
	}

	return modules
}

// TestSchedule ends one build after the other, in the order of ends, and looks
// at which ones run meanwhile.
func TestSchedule(t *testing.T) {
	for _, test := range []struct {
		name, modules string
		limit         int
		ends, want    string
	}{
		{"one at a time", "a b c", 1, "a b c", "a|b|c"},
		{"the first alone", "a b c d", 2, "a c b d", "a|b c|b d|d"},
		{"as many as may", "a b c d e", 9, "a b c d e", "a|b c d e|c d e|d e|e"},
		{"what shares packages waits", "a kube talosnode/kubernetes b", 3, "a b kube talosnode/kubernetes", "a|kube b|kube|talosnode/kubernetes"},
		{"for what is there", "a talosnode/kubernetes b", 3, "a talosnode/kubernetes b", "a|talosnode/kubernetes b|b"},
		{"none", "", 2, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testSchedule(t, folders(test.modules), test.limit, test.ends, test.want) })
		})
	}
}

func testSchedule(t *testing.T, modules []cache.Module, limit int, ends, want string) {
	var mu sync.Mutex

	running := make([]bool, len(modules))
	end := map[string]chan struct{}{}

	for _, m := range modules {
		end[m.Folder] = make(chan struct{})
	}

	set := func(i int, runs bool) {
		mu.Lock()
		defer mu.Unlock()

		running[i] = runs
	}

	done := make(chan error)

	go func() {
		done <- schedule(t.Context(), modules, limit, func(i int) error {
			set(i, true)
			<-end[modules[i].Folder]
			set(i, false)

			return nil
		})
	}()

	var states []string

	for _, name := range strings.Fields(ends) {
		synctest.Wait()

		var names []string

		for i, m := range modules {
			if running[i] {
				names = append(names, m.Folder)
			}
		}

		states = append(states, strings.Join(names, " "))

		close(end[name])
	}

	if err := <-done; err != nil {
		t.Fatal(err)
	}

	if got := strings.Join(states, "|"); got != want {
		t.Errorf("running: %s, want %s", got, want)
	}
}

// TestScheduleFailures goes on after an error, and names all; when it is told
// to stop it begins nothing more.
func TestScheduleFailures(t *testing.T) {
	modules := folders("a b c d")
	err := schedule(t.Context(), modules, 2, func(i int) error {
		if i == 3 {
			return nil
		}

		return errors.New(modules[i].Folder + " is broken")
	})

	if got, want := err.Error(), "a is broken\nb is broken\nc is broken"; got != want {
		t.Errorf("error %q, want %q", got, want)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	begun := ""
	err = schedule(ctx, modules, 1, func(i int) error {
		if begun += modules[i].Folder; i == 1 {
			cancel(stopped)
		}

		return context.Cause(ctx)
	})

	if begun != "ab" || !errors.Is(err, stopped) || err.Error() != "stopped" {
		t.Errorf("begun %q, error %q", begun, err)
	}
}

func TestAtOnce(t *testing.T) {
	const gigabyte = 1 << 30

	for _, test := range []struct {
		processors int
		available  uint64
		want       int
	}{
		{2, 24 * gigabyte, 2},
		{2, 4 * gigabyte, 1},
		{8, 10 * gigabyte, 3},
		{8, 0, 1},
		{1, math.MaxUint64, 1},
	} {
		if got := atOnce(test.processors, test.available); got != test.want {
			t.Errorf("%d processors, %d GiB: %d at once, want %d", test.processors, test.available/gigabyte, got, test.want)
		}
	}
}

func TestMemory(t *testing.T) {
	if got := ofMachine([]byte("MemTotal: 9 kB\nMemAvailable:   2048 kB\n")); got != 2<<20 {
		t.Errorf("available %d", got)
	}

	if got := ofMachine(nil); got != 0 {
		t.Errorf("available %d, when nothing is known", got)
	}

	for _, test := range []struct {
		limit, used string
		want        uint64
	}{
		{"max\n", "5\n", math.MaxUint64},
		{"", "", math.MaxUint64},
		{"100\n", "40\n", 60},
		{"100\n", "140\n", 0},
		{"100\n", "", 0},
	} {
		if got := ofContainer([]byte(test.limit), []byte(test.used)); got != test.want {
			t.Errorf("limit %q, used %q: %d, want %d", test.limit, test.used, got, test.want)
		}
	}
}

// TestStopped stops a run in the middle of builds: nothing is left.
func TestStopped(t *testing.T) {
	c := newCache(t, `"never"`)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	out := &trigger{on: "building", do: func() { cancel(stopped) }}

	err := builder{cache: c, out: out, parallel: 2}.buildAll(ctx, []cache.Module{hello})
	if !errors.Is(err, stopped) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}

	if got := names(t, c); len(got) != 0 {
		t.Errorf("the cache holds %q", got)
	}
}

// trigger does something when it is written something.
type trigger struct {
	bytes.Buffer
	on string
	do func()
}

// Write looks for what to do.
func (w *trigger) Write(text []byte) (int, error) {
	if strings.Contains(string(text), w.on) {
		w.do()
	}

	return w.Buffer.Write(text)
}
