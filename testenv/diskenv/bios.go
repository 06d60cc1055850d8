//go:build linux

package diskenv

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// exitPort is where kernels write to end QEMU.
const exitPort = 0xf4

// BIOS boots the disk in an emulated machine with a BIOS, by the GRUB that is on it, and
// returns the system whose kernel ran. The disk stays as it is.
func (d *Disk) BIOS() string {
	d.t.Helper()

	device, err := os.OpenFile(d.device, os.O_RDWR, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	defer device.Close()

	if err := device.Sync(); err != nil {
		d.t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(d.t.Context(), time.Minute)
	defer cancel()

	command := exec.CommandContext(ctx, "qemu-system-x86_64", "-accel", "tcg", "-m", "256", "-nodefaults", "-machine", "graphics=off", "-display", "none",
		"-serial", "stdio", "-no-reboot", "-device", fmt.Sprintf("isa-debug-exit,iobase=%#x,iosize=1", exitPort),
		"-drive", "format=raw,snapshot=on,file.locking=off,file.driver=file,file.filename="+filepath.Join(d.folder, diskFile))

	var complaints bytes.Buffer
	command.Stderr = &complaints

	output, _ := command.Output() // the port makes it fail
	if systemOf(output) == "" {
		d.t.Fatalf("nothing has booted: %s%s", output, &complaints)
	}

	return systemOf(output)
}
