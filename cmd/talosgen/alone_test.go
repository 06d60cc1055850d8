package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"
)

// aloneVariable tells a process that it runs for one test only.
const aloneVariable = "TALOSGEN_TEST_ALONE"

// alone runs a test of seeds in processes of its own, a share of the seeds in each, and
// returns false; in such a process it returns true. Simulated time goes on when its
// process is quiet, so what must be quiet runs beside other tests nevertheless.
func alone(t *testing.T, seeds []uint64) bool {
	t.Helper()
	if os.Getenv(aloneVariable) == t.Name() {
		return true
	}
	t.Parallel()
	shares := shared(seeds, runtime.GOMAXPROCS(0))
	parallel(shares, len(shares), func(share []uint64) {
		r := seedRange{share[0], share[len(share)-1]}
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.count=1", "-seed", r.String())
		command.Env = append(os.Environ(), aloneVariable+"="+t.Name())
		if end, ok := t.Deadline(); ok {
			command.Args = append(command.Args, "-test.timeout", time.Until(end).String())
		}
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("seeds %s: %v\n%s", &r, err, out)
		}
	})
	return false
}

// shared divides seeds into so many shares of neighbours, or fewer, none of them empty.
func shared(seeds []uint64, shares int) [][]uint64 {
	if len(seeds) == 0 {
		return nil
	}
	return slices.Collect(slices.Chunk(seeds, (len(seeds)+shares-1)/shares))
}

// TestShared: each seed is in one share, in order.
func TestShared(t *testing.T) {
	for _, c := range []struct {
		seeds  []uint64
		shares int
		want   string
	}{
		{nil, 2, "[]"},
		{[]uint64{7}, 2, "[[7]]"},
		{[]uint64{1, 2, 5}, 2, "[[1 2] [5]]"},
		{[]uint64{1, 2, 5, 6}, 2, "[[1 2] [5 6]]"},
		{[]uint64{1, 2, 5, 6, 9}, 4, "[[1 2] [5 6] [9]]"},
		{[]uint64{3, 4}, 1, "[[3 4]]"},
	} {
		if got := fmt.Sprint(shared(c.seeds, c.shares)); got != c.want {
			t.Errorf("%v in %d shares: got %s, want %s", c.seeds, c.shares, got, c.want)
		}
	}
}
