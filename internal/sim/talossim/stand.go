package talossim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/api/common"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
	"github.com/talosgen/talosgen/internal/sim/kubesim"
)

// Standing is a machine as it was found somewhere else.
type Standing struct {
	Spec

	// The server that it is at Hetzner Cloud; nil for a machine of its own. Name,
	// addresses and serial number are the server's then.
	Server *hetznersim.Machine
	// The configuration that it runs with; empty: it waits for one.
	Config string
	// Its member of etcd; 0: it has none.
	Member uint64
	// Whether it is off, or runs and nobody reaches it.
	Off, Cut bool
	// What the kernel calls the boot that it is in; empty: something.
	BootID string
	// The names of the images that it has for Talos itself.
	Images []string
	// The system of its bootloader beside the one that runs, and whether the next boot
	// takes that: it was installed in this boot.
	Other      System
	BootsOther bool
}

// FoundMember is a member of an etcd that was found.
type FoundMember struct {
	ID         uint64
	Name, Peer string
	Learner    bool
}

// Found is a cluster as it was found: its machines, its etcd and what Kubernetes has.
type Found struct {
	Machines []Standing
	Members  []FoundMember
	Leader   uint64 // the id of a member; 0: none leads
	// The version of Kubernetes, such as v1.36.4, and its objects; without members
	// there are none.
	Kubernetes string
	Objects    []map[string]any
}

// Stand adds the machines of a cluster that was found. They run as if they had for
// long. servers is what stands behind a project; nil for machines of their own.
func (f *Fleet) Stand(found Found, servers *Servers) error {
	if servers != nil {
		servers.mu.Lock() // before the fleet's, as for events
		defer servers.mu.Unlock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settle()
	var c *etcdCluster
	if len(found.Members) > 0 {
		c = &etcdCluster{id: f.newNumber("etcd"), brought: true, term: 1, index: 1, kube: kubesim.New(found.Kubernetes, f.clock.Now)}
		for _, m := range found.Members {
			c.members = append(c.members, &member{id: m.ID, name: m.Name, peer: m.Peer, learner: m.Learner})
		}
	}
	for _, s := range found.Machines {
		if err := f.stand(s, c, servers); err != nil {
			return err
		}
	}
	if c == nil {
		return nil
	}
	for _, m := range c.members {
		if m.machine == nil { // whoever had it is gone
			m.machine = newMachine(f, Spec{Name: fmt.Sprintf("%s-%x", m.name, m.id)})
			m.machine.etcd = etcdDisk{cluster: c, member: m.id}
			f.machines = append(f.machines, m.machine)
		}
	}
	c.leader = found.Leader
	c.elect()
	c.version()
	f.clusters = append(f.clusters, c)
	c.kube.Load(found.Objects)
	c.meet()
	f.found = c
	f.follow()
	return nil
}

// stand adds a machine.
func (f *Fleet) stand(s Standing, c *etcdCluster, servers *Servers) error {
	if s.Server != nil {
		s.Spec = servers.specOf(*s.Server, s.Spec)
	}
	if f.machine(s.Name) != nil {
		return fmt.Errorf("there are two machines %s", s.Name)
	}
	m := newMachine(f, s.Spec)
	f.machines = append(f.machines, m)
	if c != nil && s.Member != 0 {
		if own := c.member(s.Member); own != nil {
			own.machine, m.etcd = m, etcdDisk{cluster: c, member: own.id}
		}
	}
	m.cut = s.Cut
	if s.Off {
		return nil
	}
	m.on, m.boots, m.bootID = true, 1, cmp.Or(s.BootID, f.newUUID("boot of "+s.Name))
	m.has(s)
	switch {
	case m.spec.SSH != nil:
		m.stage = stageRunning
	case s.Config == "" && s.Cut:
		m.stage = stageRunning // whatever it runs
	case s.Config == "":
		m.stage, m.apiAt = stageMaintenance, f.now
	default:
		return m.resume(s.Config, c)
	}
	return nil
}

// has gives a machine what it has stored of Talos beside what runs.
func (m *Machine) has(s Standing) {
	m.disk.systems[1] = s.Other
	if s.BootsOther {
		m.disk.next, m.disk.tagged, m.disk.installs = 1, true, 1
	}
	m.images = map[string]image{}
	for _, name := range s.Images {
		if _, err := systemOf(name); err == nil {
			m.images[name] = image{name, common.ContainerdNamespace_NS_SYSTEM, m.fleet.now}
		}
	}
}

// resume lets a machine run as it has for long.
func (m *Machine) resume(text string, c *etcdCluster) error {
	config, err := parseConfig([]byte(text))
	if err != nil {
		return fmt.Errorf("the configuration of %s: %w", m.spec.Name, err)
	}
	m.installed, m.userSet, m.persisted, m.active, m.version, m.apiAt = true, true, config, config, 1, m.fleet.now
	m.stage, m.synced, m.services, m.joined = stageRunning, true, true, true
	if m.etcd.cluster != nil {
		m.run.serving, c.identity = true, config.cluster()
	} else if m.controlPlane() {
		m.stage = stageBooting
		m.startEtcd()
	}
	return nil
}

// meet notes the nodes of Kubernetes that are no machine of the fleet whose configuration
// is known: they stay what they are.
func (c *etcdCluster) meet() {
	c.strangers = map[string]bool{}
	for _, node := range c.kube.SeeAll("Node") {
		known := slices.ContainsFunc(c.fleetOf(), func(m *Machine) bool { return m.active != nil && m.nodeName() == nameOf(node) })
		c.strangers[nameOf(node)] = !known
	}
}

// fleetOf are the machines beside those of its members.
func (c *etcdCluster) fleetOf() []*Machine {
	for _, m := range c.members {
		return m.machine.fleet.machines
	}
	return nil
}

// specOf is what a machine is that stands behind a server, and is known for it from now
// on.
func (s *Servers) specOf(h hetznersim.Machine, found Spec) Spec {
	spec := found
	spec.Name, spec.Platform, spec.Network, spec.Serial, spec.Installed = h.Name, "hcloud", PrivateNetwork, fmt.Sprint(h.ID), true
	spec.Public, spec.Private = addresses(h)
	s.names[h.ID] = spec.Name
	return spec
}
