// Command machine does with a disk what machined of Talos does in one boot, by Talos' own
// packages: it reads META once, and writes back what it has in memory. It is added to a
// copy of Talos' module, as these packages are internal.
//
//	machine DISK META
//
// Commands are lines: write KEY VALUE (MetaWrite), drop (the boot went well), revert (the
// boot failed), rollback (Rollback), tag. Each is answered by a line.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime/v1alpha1/bootloader"
	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime/v1alpha1/bootloader/options"
	"github.com/siderolabs/talos/internal/app/machined/pkg/runtime/v1alpha1/bootloader/sdboot"
	"github.com/siderolabs/talos/internal/pkg/meta"
	keys "github.com/siderolabs/talos/pkg/machinery/meta"
)

func main() {
	m, err := start(os.Args[1], os.Args[2])
	answer("started", err)
	for lines := bufio.NewScanner(os.Stdin); err == nil && lines.Scan(); {
		answer(m.do(strings.Fields(lines.Text())))
	}
}

func answer(text string, err error) {
	if err != nil {
		text = "error: " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	fmt.Println(text)
}

// machine is one that has booted.
type machine struct {
	disk, partition string
	meta            *meta.Meta // as it was read when it booted
}

// start reads META. With systemd-boot it notes first what was booted, as that does.
func start(disk, partition string) (*machine, error) {
	if sdboot.IsUEFIBoot() {
		entry, err := sdboot.ReadVariable(sdboot.LoaderEntryDefaultName)
		if err != nil {
			return nil, err
		}
		if err := sdboot.WriteVariable(sdboot.LoaderEntrySelectedName, entry); err != nil {
			return nil, err
		}
	}
	read, err := meta.New(context.Background(), nil, meta.WithFixedPath(partition))
	return &machine{disk, partition, read}, err
}

func (m *machine) do(words []string) (string, error) {
	switch words[0] {
	case "write":
		return m.write(words[1], words[2])
	case "drop":
		return "done", drop(m.meta)
	case "revert":
		return m.revert()
	case "rollback":
		return "done", m.rollback()
	case "tag":
		return m.tag()
	}
	return "", fmt.Errorf("unknown command %q", words)
}

// write is MetaWrite of internal/app/machined/internal/server/v1alpha1.
func (m *machine) write(key, value string) (string, error) {
	number, err := strconv.ParseUint(key, 0, 8)
	if err != nil {
		return "", err
	}
	if ok, err := m.meta.SetTagBytes(context.Background(), uint8(number), []byte(value)); !ok || err != nil {
		return "", fmt.Errorf("not written: %w", err)
	}
	return "done", m.meta.Flush()
}

// drop ends the way back: drop_upgrade_fallback.go of machined's controllers.
func drop(on *meta.Meta) error {
	ok, err := on.DeleteTag(context.Background(), keys.Upgrade)
	if !ok || err != nil {
		return err
	}
	return on.Flush()
}

// revert is revert.go of machined: it reads META anew.
func (m *machine) revert() (string, error) {
	read, err := meta.New(context.Background(), nil, meta.WithFixedPath(m.partition))
	if err != nil {
		return "", err
	}
	label, ok := read.ReadTag(keys.Upgrade)
	if !ok {
		return "stays", nil
	}
	if label == "" {
		return "stays", drop(read)
	}
	if err := m.rollback(); err != nil {
		return "", err
	}
	return "reverted", drop(read)
}

// rollback is Rollback of internal/app/machined/internal/server/v1alpha1, but for the
// reboot.
func (m *machine) rollback() error {
	loader, err := bootloader.Probe(m.disk, options.ProbeOptions{})
	if err != nil {
		return err
	}
	return loader.Revert(m.disk)
}

// tag is that of the upgrade as the disk has it.
func (m *machine) tag() (string, error) {
	read, err := meta.New(context.Background(), nil, meta.WithFixedPath(m.partition))
	if err != nil {
		return "", err
	}
	label, ok := read.ReadTag(keys.Upgrade)
	return fmt.Sprintf("%t %s", ok, label), nil
}
