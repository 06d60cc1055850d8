//go:build linux

package diskenv

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/talosgen/talosgen/testenv/toolenv"
)

// Disk is a machine's disk, and what of the machine has to do with it.
type Disk struct {
	t       testing.TB
	uefi    bool
	folder  string // of the test
	device  string
	room    *room
	machine *program // in this boot
	running string
	broken  string
}

// nightly is the variable that asks for tests of that level.
const nightly = "TALOSGEN_TESTENV_NIGHTLY"

// New returns an empty disk of a machine with a BIOS, where Talos installs GRUB, or with
// UEFI, where it installs systemd-boot. The test is skipped where it does not belong.
func New(t testing.TB, uefi bool) *Disk {
	t.Helper()

	if os.Getenv(nightly) != "1" {
		t.Skipf("of the nightly level: %s=1 runs it", nightly)
	}

	if runtime.GOARCH != "amd64" {
		t.Skip("a machine with a BIOS is amd64")
	}

	d := &Disk{t: t, uefi: uefi, folder: t.TempDir()}
	d.device = attach(t, filepath.Join(d.folder, diskFile))
	d.room = newRoom(t, d.folder, uefi, map[string]string{
		"1.13": toolenv.Folder(t, "talosnode/installer-1.13"),
		newest: toolenv.Folder(t, "talosnode/installer-"+newest),
	})

	return d
}

// Install installs a system, by the installer of its minor version. It fails the test if
// the installer does. The first one makes the partitions, and is of 1.14: older ones ask
// mkfs.xfs for what Debian's lacks.
func (d *Disk) Install(system string) {
	d.t.Helper()

	if code, output := d.install(system, "vmlinuz", "initramfs.xz", "vmlinuz.efi", "systemd-boot.efi"); code != 0 {
		d.t.Fatalf("installing %s: exit code %d\n%s", system, code, output)
	}
}

// Fail upgrades to a system whose image lacks a file, and returns the exit code of the
// installer, which fails when it has begun to write.
func (d *Disk) Fail(system string) int {
	d.t.Helper()

	code, _ := d.install(system, "vmlinuz", "vmlinuz.efi")

	return code
}

// install runs an installer whose image has these files.
func (d *Disk) install(system string, assets ...string) (code int, output []byte) {
	d.t.Helper()

	folder := filepath.Join(d.folder, assetsFolder, runtime.GOARCH)
	if err := os.RemoveAll(folder); err != nil {
		d.t.Fatal(err)
	}

	for _, asset := range assets {
		write(d.t, filepath.Join(folder, asset), string(kernel(system)))
	}

	release, arguments := newest, []string{"install", "--platform", "hcloud", "--disk", d.device}

	if d.running != "" {
		release = strings.Join(strings.Split(strings.TrimPrefix(system, "v"), ".")[:2], ".")
		arguments = append(arguments, "--upgrade")
	}

	command := d.room.command(append([]string{"/programs/" + release + "/installer"}, arguments...)...)
	command.Stdin = strings.NewReader(configuration)
	output, err := command.CombinedOutput()

	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		d.t.Fatal(err)
	}

	return command.ProcessState.ExitCode(), output
}

// newest is the minor version of the newest installer.
const newest = "1.14"

// configuration is what the installer validates, and asks for arguments of the kernel.
const configuration = `version: v1alpha1
machine:
  type: worker
  token: aaaaaa.aaaaaaaaaaaaaaaa
  ca: {crt: Y2E=}
  install: {disk: /dev/sda}
cluster:
  controlPlane: {endpoint: "https://192.0.2.1:6443"}
`

// Boot ends what runs, and starts what the boot loader takes. If that is broken, Talos
// may go back to the other system, which starts then.
func (d *Disk) Boot() {
	d.t.Helper()

	if d.machine != nil {
		d.machine.end()
	}

	_, d.running = d.probe()
	d.machine = d.room.start("/programs/"+newest+"/machine", d.device, d.partition("META"))
	d.machine.expect("started")

	switch {
	case d.running != d.broken:
		d.Ask("drop")
	case d.Ask("revert") == "reverted":
		d.Boot()
	}
}

// Break lets a system fail whenever it boots.
func (d *Disk) Break(system string) { d.broken = system }

// Running is the system that was booted last.
func (d *Disk) Running() string { return d.running }

// Ask lets the machine do what machined does, and returns its answer: "write KEY VALUE"
// for a key of META, or "rollback".
func (d *Disk) Ask(command string) string {
	d.t.Helper()

	return d.machine.ask(command)
}
