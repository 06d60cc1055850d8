package hetznersim_test

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/conformance"
	"github.com/talosgen/talosgen/internal/sim/hetznersim/simtest"
)

// scripts are those of testdata/conformance.
func scripts(t *testing.T) (all []conformance.Script) {
	t.Helper()
	files, err := filepath.Glob("testdata/conformance/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		script, err := conformance.Parse(file, string(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, script)
	}
	return all
}

// TestConformance runs the scripts against the simulator.
func TestConformance(t *testing.T) {
	for _, script := range scripts(t) {
		t.Run(filepath.Base(script.Name), func(t *testing.T) {
			clock := hetznersim.NewClock(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
			sim := hetznersim.New(hetznersim.Options{Clock: clock})
			err := script.Run(t.Context(), conformance.Target{Endpoint: simtest.Serve(t, sim), Token: sim.Token(), Client: http.DefaultClient,
				Run: "r1", Pause: func(ctx context.Context) error { return clock.Sleep(ctx, time.Second) }})
			if err != nil {
				t.Error(err)
			}
			if !script.Writes {
				for _, c := range sim.Calls() {
					if c.Method != http.MethodGet && c.Status < 400 {
						t.Errorf("a script that only reads has written: %s", c)
					}
				}
			}
		})
	}
}

// TestConformanceOfHetzner runs the same scripts against the API that
// HCLOUD_ENDPOINT and HCLOUD_TOKEN name, if TALOSGEN_CONFORMANCE is set: to
// "reads" for those that make nothing, or to "writes" for all of them, which
// costs some cents. Where the two differ, the simulator is wrong.
func TestConformanceOfHetzner(t *testing.T) {
	which, token := os.Getenv("TALOSGEN_CONFORMANCE"), os.Getenv("HCLOUD_TOKEN")
	if which != "reads" && which != "writes" {
		t.Skip("TALOSGEN_CONFORMANCE is neither reads nor writes")
	}
	endpoint := cmp.Or(os.Getenv("HCLOUD_ENDPOINT"), "https://api.hetzner.cloud/v1")
	pause := func(ctx context.Context) error {
		timer := time.NewTimer(time.Second)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, script := range scripts(t) {
		t.Run(filepath.Base(script.Name), func(t *testing.T) {
			if script.Writes && which == "reads" {
				t.Skip("it makes something")
			}
			err := script.Run(t.Context(), conformance.Target{Endpoint: endpoint, Token: token, Client: http.DefaultClient,
				Run: "c" + strconv.FormatInt(time.Now().Unix(), 36), Pause: pause})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
