package talossim

import (
	"net/netip"
	"slices"
	"strconv"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// PrivateNetwork is the network of the private addresses of servers at Hetzner
// Cloud: see [Fleet.From].
const PrivateNetwork = "hcloud"

// Servers stands the machines of a fleet behind the servers of a simulated
// project at Hetzner Cloud: it goes into [hetznersim.Options], with the clock of
// the fleet.
//
// A server that is made from a snapshot with Talos, which its label os says,
// boots Talos: it waits for its configuration at its addresses, or finds it in
// its user data. A server of another image whose user data brings an SSH host
// key lets in SSH with the keys that it was given, and passes connections on to
// private addresses. Other servers are not in the fleet.
type Servers struct {
	fleet *Fleet
	next  hetznersim.Machines

	mu    sync.Mutex
	names map[int64]string // of machines, by the id of the server
}

// NewServers returns them. next hears of all events too; nil for nobody.
func NewServers(f *Fleet, next hetznersim.Machines) *Servers {
	return &Servers{fleet: f, next: next, names: map[int64]string{}}
}

// Project tells the fleet what its servers are in: from now on the firewalls and
// load balancers of the project decide who reaches what. See
// [hetznersim.Networked].
func (s *Servers) Project(p *hetznersim.Sim) {
	s.fleet.mu.Lock()
	defer s.fleet.mu.Unlock()
	s.fleet.project = p
}

// Event changes the fleet; see [hetznersim.Machines]. What happens to servers
// was chosen by whoever called the API.
func (s *Servers) Event(e hetznersim.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		s.next.Event(e)
	}
	s.fleet.change(chosen, func() { s.event(e) })
}

func (s *Servers) event(e hetznersim.Event) {
	id := e.Server.ID
	switch e.Kind {
	case hetznersim.MachineCreated, hetznersim.MachineRebuilt:
		s.fleet.remove(s.names[id])
		if spec, runs := specOf(e.Server); runs {
			s.names[id] = spec.Name
			s.fleet.machines = append(s.fleet.machines, newMachine(s.fleet, spec))
		}
	case hetznersim.MachineBooted:
		if m := s.fleet.machine(s.names[id]); m != nil {
			m.spec.Public, m.spec.Private = addresses(e.Server)
			m.powerOff()
			if !e.Server.Rescue {
				m.powerOn()
			}
		}
	case hetznersim.MachineHalted:
		if m := s.fleet.machine(s.names[id]); m != nil {
			m.powerOff()
		}
	case hetznersim.MachineDeleted:
		s.fleet.remove(s.names[id])
		delete(s.names, id)
	}
}

// specOf is the machine of a server, if it is one for the fleet.
func specOf(h hetznersim.Machine) (Spec, bool) {
	spec := Spec{Name: h.Name, Platform: "hcloud", Network: PrivateNetwork, Serial: strconv.FormatInt(h.ID, 10), UserData: h.UserData}
	spec.Public, spec.Private = addresses(h)
	if h.Labels["os"] == "talos" {
		spec.Talos, spec.Schematic, spec.Installed = h.Labels["talos_version"], h.Labels["talos_schematic_id"], true
		return spec, true
	}
	var cloudConfig struct {
		Keys struct {
			Private string `yaml:"ed25519_private"`
		} `yaml:"ssh_keys"`
	}
	if err := yaml.Unmarshal([]byte(h.UserData), &cloudConfig); err != nil || cloudConfig.Keys.Private == "" {
		return Spec{}, false
	}
	spec.SSH = &SSHServer{HostKey: cloudConfig.Keys.Private, Keys: h.SSHKeys}
	return spec, true
}

// addresses are those at which a server is reached: of its network of IPv6, the
// first one.
func addresses(h hetznersim.Machine) (public, private []string) {
	if h.PublicIPv4 != "" {
		public = append(public, h.PublicIPv4)
	}
	if net, err := netip.ParsePrefix(h.PublicIPv6); err == nil {
		public = append(public, net.Addr().Next().String())
	}
	return public, slices.Clone(h.PrivateIPs)
}
