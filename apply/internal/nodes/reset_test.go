package nodes_test

import (
	"testing"
	"testing/synctest"
)

// TestResetUnfit: a machine whose installDisk was wrong in Git is reset all the
// same, to be configured with the right one: in maintenance mode it says which
// disks it has, and that is what a reset waits for.
func TestResetUnfit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := running(t, "cp-1", "w-1")
		w.disk = "/dev/nvme9n1"
		begin := w.fleet.Clock().Now()
		if steps, err := w.remove(true, "w-1"); err != nil || w.fleet.Machine("w-1").Config() != "" {
			t.Errorf("%v: %s", err, steps)
		}
		if took, most := w.fleet.Clock().Now().Sub(begin), w.patience().Reboot; took >= most {
			t.Errorf("it took %v", took)
		}
		if steps, err := w.remove(true, "w-1"); err != nil || steps != "" {
			t.Errorf("again: %v: %s", err, steps)
		}
	})
}
