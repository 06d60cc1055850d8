package hetznersim_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/talosgen/talosgen/internal/hetznersim"
	"github.com/talosgen/talosgen/internal/hetznersim/conformance"
	"github.com/talosgen/talosgen/internal/hetznersim/simtest"
)

// TestConformance runs the scripts against the simulator. End-to-end tests run
// the same ones against the real API.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob("testdata/conformance/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script, err := conformance.Parse(file, string(text))
			if err != nil {
				t.Fatal(err)
			}
			clock := hetznersim.NewClock(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
			sim := hetznersim.New(hetznersim.Options{Clock: clock})
			err = script.Run(t.Context(), conformance.Target{Endpoint: simtest.Serve(t, sim), Token: sim.Token(), Client: http.DefaultClient,
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
