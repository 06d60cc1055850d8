package hetznersim

// Machines stands real machines behind simulated servers. It is told what
// happens, in order, before the call that brought it about is answered. It may
// not call the simulator.
type Machines interface {
	// Event tells what happened to a server.
	Event(Event)
}

// Networked are Machines to which connections lead. [New] tells them the
// simulator, whose [Sim.Way] says who reaches what.
type Networked interface {
	Machines
	// Project tells the simulator, before the first event.
	Project(*Sim)
}

// Event is something that happens to the machine of a server.
type Event struct {
	Kind   EventKind
	Server Machine
	Image  int64 // the ID of the snapshot or backup that was taken; 0 for other events
}

// EventKind is what happens to a machine.
type EventKind string

// What happens to machines.
const (
	MachineCreated EventKind = "created" // it has a disk with the image, and is off
	MachineBooted  EventKind = "booted"  // power on, or a reboot
	MachineHalted  EventKind = "halted"  // the power is off
	MachineRebuilt EventKind = "rebuilt" // its disk was overwritten with an image
	MachineImaged  EventKind = "imaged"  // an image of its disk, as it is now, was begun
	MachineDeleted EventKind = "deleted"
)

// Machine is what a machine can know about its server.
type Machine struct {
	ID         int64
	Name       string
	Type       string
	Location   string
	UserData   string
	ImageID    int64
	Labels     map[string]string // of the image
	PublicIPv4 string            // empty without
	PublicIPv6 string            // a network of /64; empty without
	PrivateIPs []string
	SSHKeys    []string // the public SSH keys that its image is given when it is made
	Rescue     bool     // it boots the rescue system
	RescueKeys []string // the public SSH keys that the rescue system lets in
}

// note tells Machines, once the call is over, what happens to a server.
func (st *state) note(kind EventKind, s *server) {
	st.events = with(st.events, Event{Kind: kind, Server: st.machine(s)})
}

// noteImage tells them that an image of a server's disk is taken.
func (st *state) noteImage(s *server, image int64) {
	st.events = with(st.events, Event{Kind: MachineImaged, Server: st.machine(s), Image: image})
}

// machine is what a machine can know about its server.
func (st *state) machine(s *server) Machine {
	m := Machine{ID: s.ID, Name: s.Name, Type: s.Type, Location: s.Location, UserData: s.UserData,
		ImageID: s.Image, SSHKeys: s.SSHKeys, Rescue: s.bootsRescue, RescueKeys: s.RescueKeys}
	if image := st.images.get(s.Image); image != nil {
		m.Labels = image.Labels
	}
	if ip := st.primaryIPs.get(s.IPv4); ip != nil {
		m.PublicIPv4 = ip.IP
	}
	if ip := st.primaryIPs.get(s.IPv6); ip != nil {
		m.PublicIPv6 = ip.IP
	}
	for _, n := range s.Nets {
		m.PrivateIPs = append(m.PrivateIPs, n.IP)
	}
	return m
}

// notify delivers the events that have gathered.
func (s *Sim) notify() {
	s.deliver.Lock()
	defer s.deliver.Unlock()
	s.mu.Lock()
	events := s.state.events
	s.state.events = nil
	s.mu.Unlock()
	if s.cfg.Machines == nil {
		return
	}
	for _, e := range events {
		s.cfg.Machines.Event(e)
	}
}
