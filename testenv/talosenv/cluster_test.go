//go:build linux

package talosenv

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/quiet"
)

// TestReadyInTime holds two nodes to the time that was promised until they are
// in maintenance mode. In a run of all tests there is no verdict, as other
// packages are at work; .ci/run has a step for it.
func TestReadyInTime(t *testing.T) {
	findBed(t, Options{})

	quiet.Within(t, 5*time.Second, func() (took time.Duration) {
		t.Run("start", func(t *testing.T) {
			begin := time.Now()
			Start(t, Options{ControlPlanes: 1, Workers: 1})
			took = time.Since(begin)
		})

		return took
	})
}

// TestNodes takes a control plane and a worker from maintenance mode to etcd,
// with configurations that talosgen rendered.
func TestNodes(t *testing.T) {
	for _, release := range []string{"1.13", "1.14"} {
		t.Run(release, func(t *testing.T) { testNodes(t, release) })
	}
}

func testNodes(t *testing.T, release string) {
	begin := time.Now()
	c := Start(t, Options{ControlPlanes: 1, Workers: 1, Talos: release})
	elapsed := stopwatch(t, begin)

	elapsed("maintenance mode")

	stage, err := c.Insecure(t.Context(), t, c.Workers[0], "get", "machinestatus", "-o", "jsonpath={.spec.stage}")
	if err != nil || strings.TrimSpace(stage) != "maintenance" {
		t.Fatalf("the worker is in stage %q, %v", stage, err)
	}

	r := c.NewRepository(t)
	elapsed("rendered")

	client := apply(t, c, r)
	elapsed("applied")

	for _, n := range c.Nodes() {
		eventually(t, time.Minute, func(ctx context.Context) error {
			_, err := client.Run(ctx, n, "version")
			return err
		})
	}

	elapsed("answers with mTLS")

	cp := c.ControlPlanes[0]
	eventually(t, time.Minute, func(ctx context.Context) error {
		_, err := client.Run(ctx, cp, "bootstrap")
		return err
	})
	elapsed("bootstrapped")

	eventually(t, 3*time.Minute, func(ctx context.Context) error { return members(ctx, client, cp, 1) })
	elapsed("etcd")

	if _, err := client.Run(t.Context(), c.Workers[0], "bootstrap"); err == nil {
		t.Error("a worker can be bootstrapped")
	}

	if output, err := client.Run(t.Context(), cp, "bootstrap"); err == nil || !strings.Contains(err.Error(), "AlreadyExists") {
		t.Errorf("bootstrap a second time: %s, %v", output, err)
	}
}

// apply hands every node its configuration, and returns a client for them.
func apply(t *testing.T, c *Cluster, r *Repository) *Client {
	t.Helper()

	for _, n := range c.Nodes() {
		file := filepath.Join(t.TempDir(), n.Name+".yaml")
		if err := os.WriteFile(file, r.MachineConfig(n), 0o600); err != nil {
			t.Fatal(err)
		}

		eventually(t, time.Minute, func(ctx context.Context) error {
			_, err := c.Insecure(ctx, t, n, "apply-config", "--file", file)
			return err
		})
	}

	return c.NewClient(t, r.MachineConfig(c.ControlPlanes[0]))
}
