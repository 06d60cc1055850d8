//go:build linux

package diskenv_test

import (
	"reflect"
	"testing"

	"github.com/talosgen/talosgen/testenv/diskenv"
)

var kinds = map[string]bool{"GRUB": false, "systemd-boot": true} // whether it has UEFI

// upgraded is a disk with a system that runs, and a newer one that does not yet.
func upgraded(t *testing.T, uefi bool) *diskenv.Disk {
	t.Helper()

	d := diskenv.New(t, uefi)
	d.Install("v1.13.1")
	d.Boot()

	if d.State().Tag {
		t.Error("a tag after the first installation")
	}

	d.Install("v1.14.1")

	return d
}

// TestUpgrade: the installer tags META, and a boot that went well ends that.
func TestUpgrade(t *testing.T) {
	for kind, uefi := range kinds {
		d := upgraded(t, uefi)

		want := diskenv.State{Next: "v1.14.1", Systems: []string{"v1.13.1", "v1.14.1"}, Tag: true}
		if got := d.State(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", kind, got, want)
		}

		if d.Boot(); d.Running() != "v1.14.1" || d.State().Tag {
			t.Errorf("%s: %s runs, %+v", kind, d.Running(), d.State())
		}
	}
}

// TestRollback: it leaves the tag as it is.
func TestRollback(t *testing.T) {
	for kind, uefi := range kinds {
		d := upgraded(t, uefi)

		if answer := d.Ask("rollback"); answer != "done" {
			t.Fatal(kind, answer)
		}

		if s := d.State(); s.Next != "v1.13.1" || !s.Tag {
			t.Errorf("%s: %+v", kind, s)
		}
	}
}

// TestMetaErased is a defect of Talos: what machined writes to META between an
// installation and the boot takes the tag with it.
func TestMetaErased(t *testing.T) {
	for kind, uefi := range kinds {
		d := upgraded(t, uefi)

		if answer := d.Ask("write 0x0e note"); answer != "done" {
			t.Fatal(kind, answer)
		}

		if d.State().Tag {
			t.Errorf("%s: the tag is still there: Talos has mended this, see docs/decisions/0021-upgrades.md", kind)
		}
	}
}
