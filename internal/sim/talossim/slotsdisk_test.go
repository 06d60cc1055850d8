//go:build linux

package talossim_test

import (
	"fmt"
	"testing"

	"github.com/talosgen/talosgen/internal/sim/talossim"
	"github.com/talosgen/talosgen/testenv/diskenv"
)

// onDisk is a machine with a real disk.
type onDisk struct {
	t *testing.T
	*diskenv.Disk
	broken string
}

// TestSlotsOnDisk judges the cases by Talos' own installers, GRUB and META.
func TestSlotsOnDisk(t *testing.T) {
	testSlots(t, func(t *testing.T, kind talossim.Bootloader) slotted {
		d := diskenv.New(t, kind == talossim.SystemdBoot)
		d.Install("v1.13.1")
		d.Boot()
		return &onDisk{t: t, Disk: d}
	})
}

func (d *onDisk) install(system string) { d.Install(system) }

func (d *onDisk) fail(system string) {
	expect(d.t, system, fmt.Sprint("exit code ", d.Fail(system)), exitCode(system))
}

func (d *onDisk) boot() { d.Boot() }

func (d *onDisk) meta() { expect(d.t, "META", d.Ask("write 0x0e note"), "done") }

func (d *onDisk) rollback(times int) {
	for range times {
		expect(d.t, "rollback", d.Ask("rollback"), "done")
	}
	d.Boot()
}

func (d *onDisk) breaks(system string) { d.broken = system; d.Break(system) }

func (d *onDisk) state() (running string, systems []string) {
	if running = d.Running(); running == d.broken {
		running = "none"
	}
	return running, d.State().Systems
}
