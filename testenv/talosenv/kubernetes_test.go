//go:build linux

package talosenv

import (
	"context"
	"testing"
	"time"
)

// TestKubernetes makes a control plane with the real kubelet healthy.
func TestKubernetes(t *testing.T) {
	for _, release := range []string{"1.13", "1.14"} {
		t.Run(release, func(t *testing.T) { testKubernetes(t, release) })
	}
}

func testKubernetes(t *testing.T, release string) {
	begin := time.Now()
	c := Start(t, Options{ControlPlanes: 1, Kubernetes: true, Talos: release})
	elapsed := stopwatch(t, begin)

	client := apply(t, c, c.NewRepository(t))
	elapsed("applied")

	cp := c.ControlPlanes[0]
	eventually(t, time.Minute, func(ctx context.Context) error {
		_, err := client.Run(ctx, cp, "bootstrap")
		return err
	})
	elapsed("bootstrapped")

	output, err := client.Run(t.Context(), cp, "health", "--wait-timeout", "4m", "--control-plane-nodes", cp.Address.String())
	elapsed("healthy")

	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}
