package talossim

import (
	"cmp"
	"regexp"
	"slices"
	"sync/atomic"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"

	"github.com/talosgen/talosgen/internal/versions"
)

// Spec is a machine as it was bought.
type Spec struct {
	Name string
	// Addresses that everybody reaches, and those of the private network that is
	// called Network, which only machines in it reach. See [Fleet.From].
	Public  []string
	Private []string
	Network string
	MACs    []string // one for each network card
	UUID    string   // of SMBIOS; empty is a new one
	Serial  string   // of SMBIOS
	Robot   string   // number of a dedicated server at Hetzner Robot
	Disks   []Disk   // none is one of 80 GB
	// Talos is the version that it boots, empty is the newest known.
	Talos string
	// Bootloader is what an installation of another Talos changes.
	Bootloader Bootloader
	// SecureBoot says that it was booted with Secure Boot. ImageSize is that of the
	// images that it pulls, BootSize that of the partition with its systems, in bytes;
	// 0 is as usual.
	SecureBoot          bool
	ImageSize, BootSize int64
	// Schematic is the id of the image, if it came from the Image Factory.
	Schematic string
	// Platform is what the image is made for; empty is metal.
	Platform string
	// Installed says that Talos is on its disk, as in a snapshot at Hetzner Cloud:
	// it needs no installation, and boots nothing once the disk was wiped. Else it
	// boots from elsewhere until Talos is installed, and again after a wipe.
	Installed bool
	// UserData is what the platform gives the machine at its first boot: nothing,
	// a whole machine configuration, or a part of one.
	UserData string
	// SSH makes it a machine without Talos, which lets in SSH: see [SSHServer].
	SSH *SSHServer
}

// Disk is a disk of a machine.
type Disk struct {
	Path, Model, Serial, WWID string
	Symlinks                  []string
	Size                      uint64 // bytes
	// What is on it: the partition table or file system, and the partitions.
	// Empty is nothing.
	Content    string
	Partitions []Partition
}

// Partition is a part of a disk.
type Partition struct {
	Path, Content, Label, PartitionLabel string
	Size                                 int64 // bytes
}

// Stages of a machine, in Talos' words.
const (
	stageBooting     = "booting"
	stageInstalling  = "installing"
	stageMaintenance = "maintenance"
	stageRunning     = "running"
	stageRebooting   = "rebooting"
	stageResetting   = "resetting"
	stageShutdown    = "shuttingDown"
	stageUpgrading   = "upgrading"
)

// Machine is a machine of a fleet. Its methods are what happens to machines
// without anybody asking Talos.
type Machine struct {
	fleet *Fleet
	spec  Spec

	// Hardware.
	on      bool
	boots   int // how often the power came on, or a reboot began
	bootID  string
	cut     bool         // from all networks
	silent  bool         // connections are accepted, and nothing is answered
	skew    atomic.Int64 // of its clock, in nanoseconds
	stays   bool         // down at the next reboot
	userSet bool         // user data was read

	// On the disk.
	installed bool
	wiped     bool
	persisted *config
	etcd      etcdDisk
	meta      map[uint8]string
	disk      slots
	medium    System           // what boots where nothing is installed
	images    map[string]image // by name

	// What befalls it in upgrades.
	broken  map[string]Failure // by version
	failing int32              // exit code of the next installer
	crashes map[string]bool    // by version of Kubernetes

	// In memory.
	stage     string
	apiAt     time.Time // when the API answers; zero: not at all
	synced    bool      // the clock
	services  bool      // they run
	active    *config
	certs     *identity // nil until it has one
	run       etcdRun
	version   int     // of the active configuration
	epoch     int     // of the API: connections belong to one
	server    *server // of the Talos API; nil if nobody has connected
	ssh       *server
	kube      *server
	joined    bool               // its kubelet has registered it
	pending   map[string]bool    // static pods that it says are not ready
	changing  map[string]Program // programs that do not run as configured yet
	said      *word              // nil if it has not, or if that is known not to be so any more
	actor     string             // the client whose call is being carried out
	installer *installer         // of this boot
	reboots   []string           // how it was asked to reboot
	log       []*machine.Event
	logged    chan struct{} // closed when something is added to log
}

func newMachine(f *Fleet, s Spec) *Machine {
	if s.Talos == "" {
		s.Talos = versions.Newest().Talos
	}
	if s.UUID == "" {
		s.UUID = f.newUUID("uuid of " + s.Name)
	}
	if len(s.Disks) == 0 {
		s.Disks = []Disk{{Path: "/dev/sda", Model: "QEMU HARDDISK", Size: 80 << 30}}
	}
	return &Machine{fleet: f, spec: s, installed: s.Installed, logged: make(chan struct{}), medium: System{s.Talos, s.Schematic}, disk: slots{systems: [2]System{{s.Talos, s.Schematic}}}}
}

// Name returns the name.
func (m *Machine) Name() string { return m.spec.Name }

// PowerOn switches it on.
func (m *Machine) PowerOn() { m.fleet.change(byItself, m.powerOn) }

// PowerOff switches it off at once, as when its power fails.
func (m *Machine) PowerOff() { m.fleet.change(byItself, m.powerOff) }

// Cut takes it from all networks: whoever calls gets no answer.
func (m *Machine) Cut() { m.fleet.change(byItself, func() { m.cut = true; m.breakOff() }) }

// Silence lets it accept connections and answer nothing, as one does whose disk
// hangs.
func (m *Machine) Silence() { m.fleet.change(byItself, func() { m.silent = true }) }

// StayDown lets it not come back from its next reboot.
func (m *Machine) StayDown() { m.fleet.change(byItself, func() { m.stays = true }) }

// Stage returns the stage; empty if it is off.
func (m *Machine) Stage() string {
	var stage string
	m.fleet.probe(func() { stage = m.stage })
	return stage
}

// Reboots are the modes in which it was asked to reboot, such as DEFAULT.
func (m *Machine) Reboots() (modes []string) {
	m.fleet.probe(func() { modes = slices.Clone(m.reboots) })
	return modes
}

// Config returns the active configuration; empty if there is none.
func (m *Machine) Config() string {
	var text string
	m.fleet.probe(func() {
		if m.active != nil {
			text = string(m.active.text)
		}
	})
	return text
}

func (m *Machine) powerOn() {
	if !m.on {
		m.on = true
		m.boot()
	}
}

func (m *Machine) powerOff() {
	m.down()
	m.on = false
}

// down ends all that runs.
func (m *Machine) down() {
	m.hangUp()
	m.boots++
	m.stage, m.apiAt, m.synced, m.services = "", time.Time{}, false, false
	m.joined, m.installer = false, nil
	m.active, m.run, m.changing, m.pending = nil, etcdRun{}, nil, nil
	m.forget()
}

// boot starts the machine.
func (m *Machine) boot() {
	m.down()
	// A machine that was found elsewhere has the id of a fleet like this one.
	m.bootID = m.fleet.newUUID("boot of " + m.spec.Name + " after " + m.bootID)
	if m.wiped && m.spec.Installed {
		return // there is nothing to boot
	}
	if m.start(); !m.installed {
		m.spec.Talos, m.spec.Schematic = m.medium.Talos, m.medium.Schematic
	}
	m.setStage(stageBooting)
	if m.fails() {
		return
	}
	if m.spec.SSH != nil {
		m.after(m.fleet.timing.Boot, func() { m.stage = stageRunning })
		return
	}
	m.after(m.fleet.timing.Boot, m.booted)
}

// booted is when Talos looks for a configuration.
func (m *Machine) booted() {
	if m.persisted == nil && !m.userSet && m.spec.UserData != "" {
		m.userSet = true
		if c, err := parseConfig([]byte(m.spec.UserData)); err == nil {
			m.persisted = c
		}
	}
	if m.persisted != nil && m.persisted.complete() && m.installed {
		m.configured(m.persisted)
		m.judge()
		return
	}
	if m.persisted != nil && m.persisted.complete() { // from user data
		m.install()
		return
	}
	m.setStage(stageMaintenance)
	m.apiAt = m.fleet.now
}

// take is a machine in maintenance mode that is given a configuration.
func (m *Machine) take(c *config) {
	m.persisted = c
	if !c.complete() {
		return
	}
	if m.installed {
		m.configured(c)
		return
	}
	m.install()
}

// install writes Talos to the disk. The API answers meanwhile.
func (m *Machine) install() {
	m.activate(m.persisted)
	m.setStage(stageInstalling)
	m.after(m.fleet.timing.Install, func() {
		m.installed, m.wiped = true, false
		m.disk = slots{systems: [2]System{m.toInstall()}}
		m.flavour()
		m.goDown(stageRebooting, m.boot)
	})
}

// toInstall is the system of the installer that the configuration names, and else the
// one that runs.
func (m *Machine) toInstall() System {
	for _, found := range installers.FindAllSubmatch(m.active.text, -1) {
		if s, err := systemOf(string(found[1])); err == nil {
			return s
		}
	}
	return System{m.spec.Talos, m.spec.Schematic}
}

// flavour makes the machine one of the platform, and with Secure Boot or without, that the
// installer in the configuration is for: its firmware takes the keys as it is booted first.
func (m *Machine) flavour() {
	if found := flavours.FindSubmatch(m.active.text); found != nil {
		m.spec.Platform, m.spec.SecureBoot = cmp.Or(string(found[1]), m.spec.Platform), len(found[2]) > 0
	}
}

// flavours are what the names of installers tell of them.
var flavours = regexp.MustCompile(`(?m)^ +image: "?[^\s"]*/(?:([a-z0-9]+)-)?installer(-secureboot)?/`)

// installers are the images of installers in configurations.
var installers = regexp.MustCompile(`(?m)^ +image: "?([^\s"]*installer[^\s"]*)`)

// configured is a machine that goes on with a configuration.
func (m *Machine) configured(c *config) {
	m.activate(c)
	m.setStage(stageBooting)
	m.after(m.fleet.timing.TimeSync, func() {
		m.synced = true
		m.after(m.fleet.timing.Services, func() {
			m.services = true
			if m.controlPlane() {
				m.startEtcd()
			}
			m.progress()
		})
	})
}

// activate makes a configuration the active one, and the API ask for
// certificates.
func (m *Machine) activate(c *config) {
	m.hangUp()
	m.active = c
	m.version++
	m.apiAt = m.fleet.now.Add(m.fleet.timing.Certify)
}

// progress is called when something has changed that a stage depends on.
func (m *Machine) progress() {
	if m.stage == stageBooting && m.services && (!m.controlPlane() || m.votes()) {
		m.setStage(stageRunning)
		m.disk.tagged = m.disk.tagged && !m.disk.read // it has proven itself
	}
}

// goDown is an orderly end, after which something follows.
func (m *Machine) goDown(stage string, then func()) {
	m.setStage(stage)
	m.services, m.joined = false, false
	m.run = etcdRun{stopped: true}
	m.after(m.fleet.timing.Shutdown, func() {
		if m.stays {
			m.stays = false
			m.powerOff()
			return
		}
		then()
	})
}

// wipe empties the disks.
func (m *Machine) wipe() {
	m.installed, m.wiped = false, true
	m.persisted, m.meta = nil, nil
	m.dropData()
}

func (m *Machine) setStage(stage string) {
	m.stage = stage
	m.emitStage()
}

// controlPlane reports whether its configuration makes it one.
func (m *Machine) controlPlane() bool { return m.active != nil && m.active.controlPlane() }

// up reports whether Talos runs with its configuration, and is not on its way
// down.
func (m *Machine) up() bool {
	return m.on && m.active != nil && (m.stage == stageBooting || m.stage == stageRunning)
}

// leaving reports whether it is on its way down.
func (m *Machine) leaving() bool {
	return m.stage == stageRebooting || m.stage == stageResetting || m.stage == stageShutdown || m.stage == stageUpgrading
}

// reached reports whether others reach it.
func (m *Machine) reached() bool { return m.on && !m.cut && !m.silent }

// address is the one by which other nodes of its cluster know it.
func (m *Machine) address() string {
	for _, a := range append(slices.Clone(m.spec.Private), m.spec.Public...) {
		return a
	}
	return "0.0.0.0" // nobody reaches it
}
