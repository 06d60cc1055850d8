package hetznersim

import (
	"net/netip"
	"slices"
	"time"
)

// state is everything that a project holds. Its rows are shared with its clones.
type state struct {
	cat    *catalogue // never changes
	lastID int64
	lastIP int // how many public addresses were given away
	now    time.Time
	first  netip.Addr // the first public IPv4 address

	// selectorDelay is how long a label selector takes to notice a server.
	selectorDelay time.Duration

	actions  table[action, *action]
	running  []int64 // the IDs of the actions that have not ended
	deferred []deferred
	events   []Event // not delivered yet

	balancers    table[balancer, *balancer]
	certificates table[certificate, *certificate]
	firewalls    table[firewall, *firewall]
	floatingIPs  table[floatingIP, *floatingIP]
	groups       table[group, *group]
	images       table[image, *image]
	networks     table[network, *network]
	primaryIPs   table[primaryIP, *primaryIP]
	rrsets       table[rrset, *rrset]
	servers      table[server, *server]
	sshKeys      table[sshKey, *sshKey]
	volumes      table[volume, *volume]
	zones        table[zone, *zone]

	vSwitches []int64 // of the same owner
	stock     []soldOut
	rate      bucket
}

// firstID is the ID before the first one that is given away. IDs of resources
// are not those of types, locations or images, so that whoever mixes them up
// finds nothing.
const firstID = 100_000_000

func newState(o Options) *state {
	st := &state{cat: newCatalogue(), lastID: firstID, now: o.Clock.Now(), first: o.FirstPublicIPv4,
		selectorDelay: o.ActionTime("apply_label_selector")}
	for _, i := range systemImages() {
		st.images.put(i)
	}
	return st
}

// newID returns an ID that nothing else has, of no kind.
func (st *state) newID() int64 {
	st.lastID++
	return st.lastID
}

func (st *state) clone() *state {
	c := *st
	c.actions = st.actions.clone()
	c.running = slices.Clone(st.running)
	c.deferred = slices.Clone(st.deferred)
	c.events = slices.Clone(st.events)
	c.balancers = st.balancers.clone()
	c.certificates = st.certificates.clone()
	c.firewalls = st.firewalls.clone()
	c.floatingIPs = st.floatingIPs.clone()
	c.groups = st.groups.clone()
	c.images = st.images.clone()
	c.networks = st.networks.clone()
	c.primaryIPs = st.primaryIPs.clone()
	c.rrsets = st.rrsets.clone()
	c.servers = st.servers.clone()
	c.sshKeys = st.sshKeys.clone()
	c.volumes = st.volumes.clone()
	c.zones = st.zones.clone()
	c.vSwitches = slices.Clone(st.vSwitches)
	c.stock = slices.Clone(st.stock)
	return &c
}

// Snapshot is the state of a simulator at a moment.
type Snapshot struct {
	state *state
	now   time.Time
}

// Snapshot returns the state. It stays as it is whatever happens afterwards, and
// may be restored many times. Faults and the log of calls are not part of it.
func (s *Sim) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Snapshot{s.state.clone(), s.cfg.Clock.Now()}
}

// Restore goes back to a snapshot of this simulator or of one with the same
// options. A [ScriptedClock] goes back to the time of the snapshot.
func (s *Sim) Restore(to Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = to.state.clone()
	if c, scripted := s.cfg.Clock.(*ScriptedClock); scripted {
		c.Set(to.now)
	}
}
