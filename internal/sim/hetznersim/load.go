package hetznersim

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// Answers are what a project says of itself, by the last part of the path that was
// asked: the items of a list, such as servers, as the API shows them. Pricing is a
// list of one.
type Answers map[string][]json.RawMessage

// Load makes the simulated project what another one has said that it is, with the same
// ids, in the place of what is there. What the API does not show is lost: user data,
// and the SSH keys that servers were made with. [Machines] hear of nothing.
func (s *Sim) Load(from Answers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state.clone()
	l := loader{from: from, st: st}
	if err := l.catalogue(); err != nil {
		return err
	}
	for _, load := range []func() error{
		l.networks, l.placementGroups, l.sshKeys, l.images, l.certificates, l.primaryIPs, l.servers, l.floatingIPs,
		l.firewalls, l.volumes, l.balancers, l.zones, l.rrsets,
	} {
		if err := load(); err != nil {
			return err
		}
	}
	s.state = st
	return nil
}

// Machine is what a machine can know about the server of a name.
func (s *Sim) Machine(name string) (m Machine, running, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	server := s.state.servers.named(name)
	if server == nil {
		return m, false, false
	}
	return s.state.machine(server), server.Status == serverOn, true
}

// loader reads answers into a state.
type loader struct {
	from Answers
	st   *state
}

// seenHead is what the API shows of every resource.
type seenHead struct {
	ID      int64             `json:"id"`
	Name    string            `json:"name"`
	Labels  map[string]string `json:"labels"`
	Created time.Time         `json:"created"`
	// Whether it may be deleted.
	Protection struct {
		Delete bool `json:"delete"`
		Change bool `json:"change"`
	} `json:"protection"`
}

// seenNamed is a part of an answer of which the id or the name counts.
type seenNamed struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// common is the head of a resource. Ids that are given later are greater.
func (l *loader) common(h seenHead) common {
	l.st.lastID = max(l.st.lastID, h.ID)
	return common{ID: h.ID, Name: h.Name, Labels: h.Labels, Created: h.Created}
}

// each reads the items of a list.
func each[T any](l *loader, key string, put func(T)) error {
	for _, raw := range l.from[key] {
		var item T
		if err := json.Unmarshal(raw, &item); err != nil {
			return fmt.Errorf("%s: an item that was read cannot be understood: %w", key, err)
		}
		put(item)
	}
	return nil
}

// fill puts what a list has in the place of a table.
func fill[S, T any, P row[T]](l *loader, into *table[T, P], key string, from func(S) P) error {
	*into = table[T, P]{}
	return each(l, key, func(item S) { into.put(from(item)) })
}

// networks loads private networks.
func (l *loader) networks() error {
	type seen struct {
		seenHead
		Range   netip.Prefix `json:"ip_range"`
		Subnets []subnetView `json:"subnets"`
		Routes  []hop        `json:"routes"`
		Exposed bool         `json:"expose_routes_to_vswitch"`
	}
	return fill(l, &l.st.networks, "networks", func(n seen) *network {
		loaded := &network{common: l.common(n.seenHead), Range: n.Range, Routes: n.Routes, Protected: n.Protection.Delete, Exposed: n.Exposed}
		for _, s := range n.Subnets {
			loaded.Subnets = append(loaded.Subnets, subnet{Type: s.Type, Range: s.Range, Zone: s.Zone, VSwitch: s.VSwitch})
			if s.VSwitch != nil && !slices.Contains(l.st.vSwitches, *s.VSwitch) {
				l.st.vSwitches = append(l.st.vSwitches, *s.VSwitch)
			}
		}
		return loaded
	})
}

func (l *loader) placementGroups() error {
	return fill(l, &l.st.groups, "placement_groups", func(g seenHead) *group { return &group{l.common(g)} })
}

func (l *loader) sshKeys() error {
	type seen struct {
		seenHead
		Key         string `json:"public_key"`
		Fingerprint string `json:"fingerprint"`
	}
	return fill(l, &l.st.sshKeys, "ssh_keys", func(k seen) *sshKey {
		return &sshKey{common: l.common(k.seenHead), Key: k.Key, Fingerprint: k.Fingerprint}
	})
}

// images loads snapshots, backups and Hetzner's own.
func (l *loader) images() error {
	type seen struct {
		seenHead
		Name    *string      `json:"name"`
		Type    string       `json:"type"`
		Status  string       `json:"status"`
		Text    string       `json:"description"`
		Size    *float64     `json:"image_size"`
		Disk    float64      `json:"disk_size"`
		From    *imageSource `json:"created_from"`
		BoundTo *int64       `json:"bound_to"`
		Flavor  string       `json:"os_flavor"`
		Version *string      `json:"os_version"`
		Arch    string       `json:"architecture"`
	}
	return fill(l, &l.st.images, "images", func(i seen) *image {
		loaded := &image{common: l.common(i.seenHead), Type: i.Type, Status: i.Status, Description: i.Text, SizeGB: deref(i.Size), Disk: int(i.Disk),
			From: i.From, BoundTo: i.BoundTo, Flavor: i.Flavor, Version: deref(i.Version), Arch: i.Arch, Protected: i.Protection.Delete}
		loaded.Name = deref(i.Name)
		return loaded
	})
}

func (l *loader) certificates() error {
	type seen struct {
		seenHead
		Type        string     `json:"type"`
		PEM         *string    `json:"certificate"`
		Before      *time.Time `json:"not_valid_before"`
		After       *time.Time `json:"not_valid_after"`
		Domains     []string   `json:"domain_names"`
		Fingerprint *string    `json:"fingerprint"`
	}
	return fill(l, &l.st.certificates, "certificates", func(k seen) *certificate {
		return &certificate{common: l.common(k.seenHead), Type: k.Type, PEM: deref(k.PEM), Domains: k.Domains,
			Before: deref(k.Before), After: deref(k.After), Fingerprint: deref(k.Fingerprint)}
	})
}

// firewalls loads rules, and to whom they apply.
func (l *loader) firewalls() error {
	type seen struct {
		seenHead
		Rules     []rule   `json:"rules"`
		AppliedTo []target `json:"applied_to"`
	}
	return fill(l, &l.st.firewalls, "firewalls", func(f seen) *firewall {
		loaded := &firewall{common: l.common(f.seenHead), Rules: f.Rules}
		for _, t := range f.AppliedTo {
			switch {
			case t.Selector != nil:
				loaded.Selectors = append(loaded.Selectors, t.Selector.Selector)
			case t.Server != nil:
				loaded.Servers = append(loaded.Servers, t.Server.ID)
			}
		}
		return loaded
	})
}

func (l *loader) volumes() error {
	type seen struct {
		seenHead
		Server   *int64    `json:"server"`
		Location seenNamed `json:"location"`
		Size     int       `json:"size"`
		Status   string    `json:"status"`
		Format   *string   `json:"format"`
	}
	return fill(l, &l.st.volumes, "volumes", func(d seen) *volume {
		return &volume{common: l.common(d.seenHead), Status: d.Status, Server: deref(d.Server), Location: d.Location.Name,
			Size: d.Size, Format: d.Format, Protected: d.Protection.Delete}
	})
}

// zones loads DNS zones without their records.
func (l *loader) zones() error {
	type seen struct {
		seenHead
		Mode      string       `json:"mode"`
		TTL       int          `json:"ttl"`
		Primaries []nameserver `json:"primary_nameservers"`
	}
	l.st.rrsets = table[rrset, *rrset]{}
	return fill(l, &l.st.zones, "zones", func(z seen) *zone {
		return &zone{common: l.common(z.seenHead), Mode: z.Mode, TTL: z.TTL, Protected: z.Protection.Delete, Primaries: z.Primaries}
	})
}

// rrsets loads records. Their ids are texts, which nobody asks for.
func (l *loader) rrsets() error {
	type seen struct {
		Name       string            `json:"name"`
		Type       string            `json:"type"`
		TTL        *int              `json:"ttl"`
		Labels     map[string]string `json:"labels"`
		Records    []record          `json:"records"`
		Zone       int64             `json:"zone"`
		Protection struct {
			Change bool `json:"change"`
		} `json:"protection"`
	}
	return each(l, "rrsets", func(r seen) {
		l.st.rrsets.put(&rrset{common: common{ID: l.st.newID(), Name: r.Name, Labels: r.Labels}, Zone: r.Zone, Type: r.Type,
			TTL: r.TTL, Records: r.Records, Protected: r.Protection.Change})
	})
}
