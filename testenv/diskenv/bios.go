//go:build linux

package diskenv

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/talosgen/talosgen/testenv/internal/child"
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

	command := exec.Command("qemu-system-x86_64", "-accel", "tcg", "-m", "256", "-nodefaults", "-machine", "graphics=off", "-display", "none",
		"-serial", "stdio", "-no-reboot", "-device", fmt.Sprintf("isa-debug-exit,iobase=%#x,iosize=1", exitPort),
		"-drive", "format=raw,snapshot=on,file.locking=off,file.driver=file,file.filename="+filepath.Join(d.folder, diskFile))

	var output, complaints bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaints

	if err := child.Start(command); err != nil {
		d.t.Fatal(err)
	}

	late := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })
	defer late.Stop()

	_ = command.Wait() // the port makes it fail

	system := systemOf(output.Bytes())
	if system == "" {
		d.t.Fatalf("nothing has booted: %s%s", &output, &complaints)
	}

	return system
}
