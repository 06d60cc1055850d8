package plantest

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

func (m *Model) server(p *cloud.Plan, c cloud.Change) []call {
	o := &m.Observed
	switch c.Action {
	case cloud.Create:
		return m.createServer(p, c)
	case cloud.Delete:
		return m.deleteServer(c)
	case cloud.Replace:
		return append(m.deleteServer(c), m.createServer(p, c)...)
	}
	want, err := wantServer(p, c.Name)
	if err != nil {
		return []call{func() error { return err }}
	}
	var calls []call
	edit := func(change func(*cloud.Server) error) {
		calls = append(calls, func() error {
			s, err := byID(o.Servers, c.ID)
			if err != nil {
				return err
			}
			return change(s)
		})
	}
	if c.Class == cloud.PowerOff {
		edit(func(s *cloud.Server) error { s.Status = "off"; return nil })
	}
	for _, f := range c.Fields {
		edit(func(s *cloud.Server) error { return m.serverField(p, want, s, f, c.Candidates) })
	}
	edit(func(s *cloud.Server) error { s.Status = "running"; return nil })
	return calls
}

func (m *Model) createServer(p *cloud.Plan, c cloud.Change) []call {
	o := &m.Observed
	want, err := wantServer(p, c.Name)
	if err != nil {
		return []call{func() error { return err }}
	}
	calls := []call{func() error { return m.newServer(p, c, want) }}
	edit := func(change func(*cloud.Server) error) {
		calls = append(calls, func() error {
			s, err := byName(o.Servers, want.Name)
			if err != nil {
				return err
			}
			return change(s)
		})
	}
	edit(func(s *cloud.Server) error { return m.attach(p, s, want.PrivateIP) })
	if want.Backups {
		edit(func(s *cloud.Server) error { s.Backups = true; return nil })
	}
	if want.Protected {
		edit(func(s *cloud.Server) error { s.DeleteProtect, s.RebuildProtect = true, true; return nil })
	}
	edit(func(s *cloud.Server) error { return reverseServer(s, want, "ipv4") })
	edit(func(s *cloud.Server) error { return reverseServer(s, want, "ipv6") })
	edit(func(s *cloud.Server) error { s.Status = "running"; return nil })
	return calls
}

// newServer is the call that creates a server: stopped, with everything that
// the call takes.
func (m *Model) newServer(p *cloud.Plan, c cloud.Change, want schemas.InfraServer) error {
	o := &m.Observed
	if len(c.Candidates) == 0 {
		return fmt.Errorf("no candidates")
	}
	image, err := m.imageFor(c, want)
	if err != nil {
		return err
	}
	s := cloud.Server{
		Meta: cloud.Meta{Name: want.Name, Labels: cloud.ServerLabels(want)}, Status: "off",
		Type: c.Candidates[0].Type, Location: c.Candidates[0].Location,
		ImageID: image.ID, ImageName: image.Name, ImageLabels: image.Labels,
	}
	t, err := find(o.Catalogue.ServerTypes, func(t cloud.ServerType) bool { return t.Name == s.Type })
	if err != nil {
		return err
	}
	s.DiskSize = t.Disk
	if want.PublicIPv4 {
		s.PublicIPv4 = ipv4(m.id())
	}
	if want.PublicIPv6 {
		s.PublicIPv6 = ipv6(m.id())
	}
	if s.PlacementGroup, err = m.place(want.PlacementGroup); err != nil {
		return err
	}
	made, err := create(m, &o.Servers, s)
	if err != nil {
		return err
	}
	return m.protect(p, made)
}

// protect applies the firewalls of a new server directly, in the call that
// creates it.
func (m *Model) protect(p *cloud.Plan, s *cloud.Server) error {
	if s.PublicIPv4.IP == "" && s.PublicIPv6.IP == "" {
		return nil
	}
	for _, w := range p.Desired.Firewalls {
		if !selects([]string{w.ApplyTo}, s.Labels) {
			continue
		}
		f, err := m.firewallOf(w)
		if err != nil {
			return err
		}
		f.Servers = append(f.Servers, s.ID)
	}
	return nil
}

func (m *Model) firewallOf(f schemas.InfraFirewall) (*cloud.Firewall, error) {
	if f.ExistingID != 0 {
		return byID(m.Observed.Firewalls, f.ExistingID)
	}
	return byName(m.Observed.Firewalls, f.Name)
}

func (m *Model) imageFor(c cloud.Change, want schemas.InfraServer) (*cloud.Image, error) {
	if c.Image != 0 {
		return byID(m.Observed.Images, c.Image)
	}
	s, err := labelselector.Parse(want.Image.Selector)
	if err != nil {
		return nil, err
	}
	for i, image := range m.Observed.Images {
		if image.Name == "" && image.Architecture == want.Image.Architecture && s.Matches(image.Labels) {
			return &m.Observed.Images[i], nil
		}
	}
	return nil, fmt.Errorf("not_found: image %s", want.Image.Selector)
}

// place returns the id of a placement group with room.
func (m *Model) place(name string) (int64, error) {
	if name == "" {
		return 0, nil
	}
	g, err := byName(m.Observed.PlacementGroups, name)
	if err != nil {
		return 0, err
	}
	if len(g.Servers) >= 10 {
		return 0, fmt.Errorf("service_error: placement group %s contains already 10 servers", name)
	}
	return g.ID, nil
}

// attach attaches a server to the network of a plan.
func (m *Model) attach(p *cloud.Plan, s *cloud.Server, ip string) error {
	n, err := m.networkOf(p)
	if err != nil {
		return err
	}
	if err := m.free(n, ip); err != nil {
		return err
	}
	s.PrivateNets = slices.DeleteFunc(s.PrivateNets, func(a cloud.PrivateNet) bool { return a.Network == n.ID })
	s.PrivateNets = append(s.PrivateNets, cloud.PrivateNet{Network: n.ID, IP: ip})
	return nil
}

// free refuses an address that something has, or that no subnet holds.
func (m *Model) free(n *cloud.Network, ip string) error {
	if !slices.ContainsFunc(n.Subnets, func(s cloud.Subnet) bool { return in(s.IPRange, ip) }) {
		return fmt.Errorf("no_subnet_available: %s", ip)
	}
	taken := func(nets []cloud.PrivateNet) bool {
		return slices.ContainsFunc(nets, func(a cloud.PrivateNet) bool { return a.Network == n.ID && a.IP == ip })
	}
	if slices.ContainsFunc(m.Observed.Servers, func(s cloud.Server) bool { return taken(s.PrivateNets) }) ||
		slices.ContainsFunc(m.Observed.LoadBalancers, func(b cloud.LoadBalancer) bool { return taken(b.PrivateNets) }) {
		return fmt.Errorf("ip_not_available: %s", ip)
	}
	return nil
}

// serverField does what a field of an update says.
func (m *Model) serverField(p *cloud.Plan, want schemas.InfraServer, s *cloud.Server, f cloud.Field, candidates []cloud.Candidate) error {
	if f.Class == cloud.PowerOff && s.Status != "off" {
		return fmt.Errorf("server_not_stopped")
	}
	switch f.Name {
	case cloud.FieldType:
		if len(candidates) == 0 {
			return fmt.Errorf("there is no type to give it")
		}
		t, err := find(m.Observed.Catalogue.ServerTypes, func(t cloud.ServerType) bool { return t.Name == candidates[0].Type })
		if err != nil {
			return err
		}
		s.Type = t.Name
		if !want.KeepDisk {
			s.DiskSize = t.Disk
		}
	case cloud.FieldGroup:
		id, err := m.place(want.PlacementGroup)
		s.PlacementGroup = id
		return err
	case cloud.FieldPrivateIP:
		return m.attach(p, s, want.PrivateIP)
	case cloud.FieldPublicIPv4:
		s.PublicIPv4 = cloud.PublicIP{}
		if f.Edit != cloud.Remove {
			s.PublicIPv4 = ipv4(m.id())
		}
	case cloud.FieldPublicIPv6:
		s.PublicIPv6 = cloud.PublicIP{}
		if f.Edit != cloud.Remove {
			s.PublicIPv6 = ipv6(m.id())
		}
	case cloud.FieldFirewalls:
		w, err := find(p.Desired.Firewalls, func(w schemas.InfraFirewall) bool { return w.Name == f.Item || fmt.Sprint(w.ExistingID) == f.Item })
		if err != nil {
			return err
		}
		firewall, err := m.firewallOf(w)
		if err != nil {
			return err
		}
		firewall.Servers = slices.DeleteFunc(firewall.Servers, func(id int64) bool { return id == s.ID })
		if f.Edit != cloud.Remove {
			firewall.Servers = append(firewall.Servers, s.ID)
		}
	case cloud.FieldLabels:
		setLabels(&s.Meta, want.Labels)
	case cloud.FieldReverseDNS:
		return reverseServer(s, want, f.Item)
	default:
		return serverSwitch(s, want, f)
	}
	return nil
}

// serverSwitch sets what is on or off.
func serverSwitch(s *cloud.Server, want schemas.InfraServer, f cloud.Field) error {
	switch f.Name {
	case cloud.FieldBackups:
		s.Backups = want.Backups
	case cloud.FieldProtected:
		s.DeleteProtect, s.RebuildProtect = want.Protected, want.Protected
	case cloud.FieldRescue:
		s.Rescue = false
	case cloud.FieldISO:
		s.ISO = ""
	case cloud.FieldPower:
		s.Status = "running"
	default:
		return fmt.Errorf("the model knows no field %s of a server", f.Name)
	}
	return nil
}

func reverseServer(s *cloud.Server, want schemas.InfraServer, ipType string) error {
	if ipType == "ipv4" {
		s.PublicIPv4 = reverse(s.PublicIPv4, s.ID, ipType, want.ReverseDNS)
	} else {
		s.PublicIPv6 = reverse(s.PublicIPv6, s.ID, ipType, want.ReverseDNS)
	}
	return nil
}

// reverse sets the reverse DNS name of an address, or Hetzner's default.
func reverse(a cloud.PublicIP, id int64, ipType string, want schemas.InfraReverseDNS) cloud.PublicIP {
	template := want.IPv4
	if ipType == "ipv6" {
		template = want.IPv6
	}
	switch {
	case a.IP == "":
	case template == "" && ipType == "ipv4":
		a.DNSPtr = ipv4(a.ID).DNSPtr
	default:
		a.DNSPtr = cloud.ReverseName(template, id, a.IP)
	}
	return a
}

func (m *Model) deleteServer(c cloud.Change) []call {
	o := &m.Observed
	return m.unprotected(c, func() *bool {
		if s, err := byID(o.Servers, c.ID); err == nil {
			return &s.DeleteProtect
		}
		return nil
	}, func() error {
		for i := range o.Firewalls {
			o.Firewalls[i].Servers = slices.DeleteFunc(o.Firewalls[i].Servers, func(id int64) bool { return id == c.ID })
		}
		for i := range o.Volumes {
			if o.Volumes[i].Server == c.ID {
				o.Volumes[i].Server = 0
			}
		}
		return remove(&o.Servers, c.ID)
	})
}
