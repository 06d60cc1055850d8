package hetznersim

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/netip"
	"slices"
)

// AddSnapshot makes an image as create_image would, without a server: for
// projects that begin with images. The disk is in GB. It returns the ID.
func (s *Sim) AddSnapshot(description, architecture string, disk int, labels map[string]string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &image{common: common{ID: s.state.newID(), Labels: maps.Clone(labels), Created: s.cfg.Clock.Now()},
		Type: "snapshot", Status: "available", Description: description, SizeGB: float64(disk) * snapshotShare,
		Disk: disk, Flavor: "unknown", Arch: architecture}
	s.state.images.put(i)
	return i.ID
}

// AddZone makes a DNS zone in primary mode, unless there is one of the name:
// for projects that begin with zones. It returns the ID.
func (s *Sim) AddZone(name string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if z := s.state.zones.named(name); z != nil {
		return z.ID
	}
	now := s.cfg.Clock.Now()
	z := &zone{common: common{ID: s.state.newID(), Name: name, Created: now}, Mode: "primary", TTL: defaultTTL}
	s.state.zones.put(z)
	for _, in := range ownRecords() {
		s.state.rrsets.put(&rrset{common: common{ID: s.state.newID(), Name: in.Name, Created: now}, Zone: z.ID, Type: in.Type, Records: in.Records})
	}
	return z.ID
}

// AddSSHKey makes an SSH key, unless there is one of the name: for projects that
// begin with keys. Without a public key, as a line of an authorized_keys file,
// nobody has the private half. It returns the ID.
func (s *Sim) AddSSHKey(name, public string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := find(s.state.sshKeys.rows, func(k *sshKey) bool { return k.Name == name }); k != nil {
		return k.ID
	}
	text := cmp.Or(public, publicKey(name))
	print, _ := fingerprint(text) // it is well-formed
	k := &sshKey{common: common{ID: s.state.newID(), Name: name, Created: s.cfg.Clock.Now()}, Key: text, Fingerprint: print}
	s.state.sshKeys.put(k)
	return k.ID
}

// AddNetwork makes a network without subnets, unless there is one: for projects
// that begin with networks. It is known by its id, or by its name if the id is 0. It
// returns the ID.
func (s *Sim) AddNetwork(id int64, name string, ipRange netip.Prefix) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := find(s.state.networks.rows, func(n *network) bool { return n.ID == id || id == 0 && n.Name == name }); n != nil {
		return n.ID
	}
	n := &network{common: s.given(id, name, "network"), Range: ipRange}
	s.state.networks.put(n)
	return n.ID
}

// AddVSwitch makes a vSwitch of an id, unless there is one: for projects whose
// owner has dedicated servers.
func (s *Sim) AddVSwitch(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.state.vSwitches, id) {
		s.state.vSwitches = append(s.state.vSwitches, id)
	}
}

// AddFirewall makes a firewall of an id, unless there is one: for projects that
// begin with firewalls. It lets anybody in to TCP ports.
func (s *Sim) AddFirewall(id int64, ports ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.firewalls.get(id) == nil {
		f := &firewall{common: s.given(id, "", "firewall")}
		for _, port := range ports {
			f.Rules = append(f.Rules, rule{Direction: "in", Protocol: "tcp", Port: &port, Sources: []string{"0.0.0.0/0", "::/0"}, Destinations: []string{}})
		}
		s.state.firewalls.put(f)
	}
}

// AddFloatingIP makes a floating IP of an id, unless there is one: for projects
// that begin with addresses. The type is ipv4 or ipv6.
func (s *Sim) AddFloatingIP(id int64, kind, location string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state.floatingIPs.get(id) == nil {
		s.state.floatingIPs.put(&floatingIP{common: s.given(id, "", "floating-ip"), publicIP: s.state.newPublicIP(kind), Home: location})
	}
}

// given is what has an id and a name, or else a new id, or a name by its id.
func (s *Sim) given(id int64, name, kind string) common {
	if id == 0 {
		id = s.state.newID()
	}
	return common{ID: id, Name: cmp.Or(name, fmt.Sprintf("%s-%d", kind, id)), Created: s.cfg.Clock.Now()}
}

// publicKey is a public key to which there is no private one.
func publicKey(name string) string {
	const algorithm = "ssh-ed25519"
	point := sha256.Sum256([]byte(name)) // any 32 bytes will do
	blob := append([]byte{0, 0, 0, byte(len(algorithm))}, algorithm...)
	blob = append(append(blob, 0, 0, 0, byte(len(point))), point[:]...)
	return algorithm + " " + base64.StdEncoding.EncodeToString(blob) + " " + name
}
