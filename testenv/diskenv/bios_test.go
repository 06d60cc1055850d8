//go:build linux

package diskenv_test

import "testing"

// TestBIOS: the GRUB that installers write boots what its configuration is read to boot,
// after everything that changes it.
func TestBIOS(t *testing.T) {
	d := upgraded(t, false)

	boots := func(when, want string) {
		t.Helper()

		if got := d.BIOS(); got != want {
			t.Errorf("%s: %s boots, want %s", when, got, want)
		}
	}

	boots("upgraded", "v1.14.1")
	d.Boot()
	d.Ask("rollback")
	boots("rolled back", "v1.13.1")
	d.Boot()
	d.Install("v1.13.6")
	d.Install("v1.13.9")
	boots("two installations in one boot", "v1.13.9")
}
