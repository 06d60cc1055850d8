//go:build linux

package diskenv

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// The disk is a file of the test. Nearly nothing of it is written.
const (
	diskFile = "disk"
	diskSize = 4 << 30
)

// attach makes a disk of a file, and returns its device. It goes away with the process,
// however that ends.
func attach(t testing.TB, name string) string {
	t.Helper()

	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()

	if err := file.Truncate(diskSize); err != nil {
		t.Fatal(err)
	}

	for range 10 { // others may take the device that was free
		loop, err := tryAttach(file)
		if err == nil {
			t.Cleanup(func() { _ = loop.Close() })
			return loop.Name()
		}

		if !errors.Is(err, unix.EBUSY) {
			t.Fatalf("a loop device, which needs root: %v", err)
		}
	}

	t.Fatal("all loop devices are taken")

	return ""
}

func tryAttach(file *os.File) (*os.File, error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer control.Close()

	free, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
	if err != nil {
		return nil, err
	}

	loop, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", free), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}

	settings := unix.LoopConfig{Fd: uint32(file.Fd())}
	settings.Info.Flags = unix.LO_FLAGS_PARTSCAN | unix.LO_FLAGS_AUTOCLEAR

	if err := unix.IoctlLoopConfigure(int(loop.Fd()), &settings); err != nil {
		return nil, errors.Join(err, loop.Close())
	}

	return loop, nil
}
