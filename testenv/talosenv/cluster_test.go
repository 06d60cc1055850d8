//go:build linux

package talosenv

import (
	"testing"
	"time"
)

// TestMaintenance starts nodes and waits for their API.
func TestMaintenance(t *testing.T) {
	begin := time.Now()
	c := Start(t, Options{ControlPlanes: 1, Workers: 1})
	t.Logf("maintenance mode after %s", time.Since(begin).Round(time.Millisecond))

	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("maintenance mode took %s", d)
	}
	_ = c
}
