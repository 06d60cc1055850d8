package talossim

import (
	"fmt"
	"strings"

	"github.com/talosgen/talosgen/internal/versions"
)

// Bootloader is the kind of a machine's bootloader, which decides what a second
// installation in one boot overwrites.
type Bootloader string

// The bootloaders.
const (
	// GRUB writes over the system that the next boot would not take: after one
	// installation, that is the one that runs.
	GRUB Bootloader = ""
	// SystemdBoot has files instead of slots. The installer of 1.14 never writes over
	// the system that runs; older ones do as with GRUB.
	SystemdBoot Bootloader = "systemd-boot"
)

// System is a Talos on a disk.
type System struct {
	Talos, Schematic string
}

// slots is what a bootloader has: the system that runs, and another one.
type slots struct {
	systems [2]System
	partial [2]bool // begun to be written, and not ended
	running int
	next    int // what the next boot takes
	// A new system has not proven itself: a boot that fails goes back. The tag is
	// on the disk, where the installer writes it. Talos keeps META in memory, has not
	// read it again, and writes it back as it was with any other change.
	tagged bool
	read   bool // by this boot
	// Installations and rollbacks in this boot.
	installs, rollbacks int
}

// firstToSpare is the first minor of Talos whose installer asks systemd-boot what runs.
const firstToSpare = 14

// other is the system that the installer of a version writes over.
func (s *slots) other(kind Bootloader, installer string) int {
	if kind == SystemdBoot && versions.Minor(installer) >= firstToSpare {
		return 1 - s.running
	}
	return 1 - s.next
}

// write puts a system where there is room, and lets it boot next.
func (m *Machine) write(new System) {
	if m.disk.installs++; m.disk.installs > 1 {
		m.fleet.violate("%s: a second installation in one boot", m.spec.Name)
	}
	at := m.disk.other(m.spec.Bootloader, new.Talos)
	m.disk.systems[at], m.disk.partial[at] = new, false
	m.disk.next, m.disk.tagged, m.disk.read = at, true, false
}

// spoil is an installer that fails when it has begun to write: what it would have
// replaced is gone, and the next boot takes what it would have taken, if that is still
// there.
func (m *Machine) spoil(new System) {
	at := m.disk.other(m.spec.Bootloader, new.Talos)
	m.disk.systems[at], m.disk.partial[at] = new, true
	if m.disk.next == at {
		m.disk.next = m.disk.running
	}
}

// start takes the system of the next boot.
func (m *Machine) start() {
	d := &m.disk
	d.running, d.installs, d.rollbacks, d.read = d.next, 0, 0, d.tagged
	m.spec.Talos, m.spec.Schematic = d.systems[d.running].Talos, d.systems[d.running].Schematic
}

// flush is a change of META: what the installer has written since the boot is lost.
func (m *Machine) flush() {
	if m.disk.tagged && !m.disk.read {
		m.fleet.violate("%s: a change of META between installation and boot ends the way back", m.spec.Name)
		m.disk.tagged = false
	}
}

// Failure is how a system fails to start.
type Failure int

// The failures.
const (
	// Reverts is a Talos that fails: it goes back to the other system if it still
	// may, and else boots no further.
	Reverts Failure = iota + 1
	// Hangs is a kernel that does not get as far: it never goes back.
	Hangs
)

// Break lets a version of Talos fail to start on the machine, until Mend.
func (m *Machine) Break(talos string, how Failure) {
	m.fleet.change(byItself, func() { m.broken = map[string]Failure{talos: how} })
}

// Mend lets every version start again, of Talos and of programs of Kubernetes.
func (m *Machine) Mend() { m.fleet.change(byItself, func() { m.broken, m.crashes = nil, nil }) }

// fails reports whether the system does not start, and lets happen what follows.
func (m *Machine) fails() bool {
	if m.disk.partial[m.disk.running] {
		m.fleet.violate("%s: it boots a system whose installation failed", m.spec.Name)
		return true
	}
	switch m.broken[m.spec.Talos] {
	case Hangs:
		return true
	case Reverts:
		if m.disk.tagged {
			m.disk.tagged, m.disk.next = false, 1-m.disk.running
			m.after(m.fleet.timing.Shutdown, m.boot)
		}
		return true
	}
	return false
}

// Systems are the system that runs, and the other one, which is empty if there is
// none.
func (m *Machine) Systems() (running, other System) {
	m.fleet.probe(func() { running, other = m.disk.systems[m.disk.running], m.disk.systems[1-m.disk.running] })
	return running, other
}

// minor is that of the Talos that runs.
func (m *Machine) minor() int { return versions.Minor(m.spec.Talos) }

// systemOf is what an installer of a name installs: its tag is the version of Talos,
// and what is before it may be a schematic.
func systemOf(image string) (System, error) {
	name, _, _ := strings.Cut(image, "@")
	repository, tag, found := strings.Cut(name, ":v")
	if !found || versions.Minor(tag) < 0 {
		return System{}, fmt.Errorf("image %q: not found", image)
	}
	s := System{Talos: "v" + tag}
	if parts := strings.Split(repository, "/"); len(parts[len(parts)-1]) == 64 {
		s.Schematic = parts[len(parts)-1]
	}
	return s, nil
}
