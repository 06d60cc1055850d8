package hetznersim

import "maps"

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
