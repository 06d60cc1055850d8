package cloud

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// Statuses of servers that matter here.
const (
	statusOff      = "off"
	statusStopping = "stopping"
	statusDeleting = "deleting"
)

// servers compares servers.
func (m *maker) servers() {
	for _, want := range m.desired.Servers {
		have, blocked := claim(m, KindServer, want.Name, m.observed.Servers)
		switch {
		case blocked:
		case have == nil || have.Status == statusDeleting:
			m.createServer(want, Create, nil)
		case m.replaces(want, have):
			m.createServer(want, Replace, have)
		default:
			m.updateServer(want, have)
		}
	}
	stale(m, KindServer, m.observed.Servers, m.deleteServer)
	m.checkControlPlanes()
}

// replaces reports whether a server is to be made again because somebody asked
// for it.
func (m *maker) replaces(want schemas.InfraServer, have *Server) bool {
	key := KeyOf(KindServer, want.Name)
	if !plan.Named(m.policy.Replace, key, want.Name) {
		return false
	}
	if node(want) && !plan.Named(m.policy.Left, key, want.Name) {
		m.refusal(key, "a node is not replaced by making its server again: its data and its place in etcd would be lost",
			"let the node leave the cluster first: talosgen replace")
		return false
	}
	return have != nil
}

// node reports whether a server is a node of the cluster.
func node(s schemas.InfraServer) bool { return s.Role != schemas.RoleNATGateway }

// createServer plans a new server, or one in the place of have.
func (m *maker) createServer(want schemas.InfraServer, action Action, have *Server) {
	d := m.draft(KindServer, want.Name, 0, action)
	d.Reason = missing
	if action == Replace {
		d.ID, d.Destructive, d.LiftProtection = have.ID, true, have.DeleteProtect
		d.Reason = "somebody asked for it; its disk and public addresses are lost"
	}
	m.candidates(d, want)
	m.image(d, want.Image)
	d.show(FieldPrivateIP, want.PrivateIP)
	for _, a := range []struct {
		name string
		want bool
	}{{FieldPublicIPv4, want.PublicIPv4}, {FieldPublicIPv6, want.PublicIPv6}, {FieldBackups, want.Backups}, {FieldProtected, want.Protected}} {
		if a.want {
			d.show(a.name, "on")
		}
	}
	d.show(FieldGroup, want.PlacementGroup)
	d.showReverse(want.ReverseDNS)
	if want.UserData != "" {
		d.show("userData", "digest "+userDataDigest(want))
	}
	m.serverNeeds(d, want)
	m.sshKeys(d.Key, want)
	m.add(d)
}

// serverNeeds lets a server wait for what it is created with, and for what has
// its address or its place in a placement group until then.
func (m *maker) serverNeeds(d *draft, want schemas.InfraServer) {
	d.needs(m.networkKey(), m.subnetFor(want.PrivateIP))
	for _, f := range m.firewallsOf(want.Labels) {
		d.needs(KeyOf(KindFirewall, firewallName(f)))
	}
	if want.PlacementGroup != "" {
		d.needs(KeyOf(KindPlacementGroup, want.PlacementGroup))
	}
	if node(want) && !want.PublicIPv4 && !want.PublicIPv6 {
		m.needsGateway(d)
	}
	group := m.ids[KeyOf(KindPlacementGroup, want.PlacementGroup)]
	for _, s := range m.observed.Servers {
		if m.hasAddress(s, want.PrivateIP) || group != 0 && m.full[group] && s.PlacementGroup == group {
			d.after(KeyOf(KindServer, s.Name))
		}
	}
}

// needsGateway lets a node without public addresses wait for its way out.
func (m *maker) needsGateway(d *draft) {
	if m.desired.Network == nil {
		return
	}
	for _, r := range m.desired.Network.Routes {
		if r.Destination == "0.0.0.0/0" {
			d.needs(KeyOf(KindRoute, r.Destination))
		}
	}
	for _, s := range m.desired.Servers {
		if !node(s) {
			d.needs(KeyOf(KindServer, s.Name))
		}
	}
}

// hasAddress reports whether a server has an address in the network.
func (m *maker) hasAddress(s Server, address string) bool {
	return m.net != nil && slices.ContainsFunc(s.PrivateNets, func(n PrivateNet) bool {
		return n.Network == m.net.ID && n.IP == address
	})
}

// sshKeys refuses a new server if a key that it should have is not there.
func (m *maker) sshKeys(key plan.Key, want schemas.InfraServer) {
	for _, name := range want.SSHKeys {
		if !slices.ContainsFunc(m.observed.SSHKeys, func(k SSHKey) bool { return k.Name == name }) {
			m.refusal(key, fmt.Sprintf("there is no SSH key %s in the project", name), "add it in Hetzner's console, or correct sshKeys in cluster.yaml")
		}
	}
}

// updateServer compares a living server field by field.
func (m *maker) updateServer(want schemas.InfraServer, have *Server) {
	d := m.draft(KindServer, want.Name, have.ID, Update)
	m.serverType(d, want, have)
	m.serverLocation(d, want, have)
	m.serverPlace(d, want, have)
	m.serverAddresses(d, want, have)
	m.serverFirewalls(d, want, have)
	d.labels(have.Labels, want.Labels)
	d.serverNames(want, have)
	if have.Backups && !want.Backups {
		d.Destructive = true
		d.field(Field{Name: FieldBackups, from: "on", to: "off", Class: InPlace, Reason: "the backups that there are are deleted"})
	} else {
		d.differ(FieldBackups, onOff(have.Backups), onOff(want.Backups), "")
	}
	d.differ(FieldProtected, protection(have.DeleteProtect, have.RebuildProtect), protection(want.Protected, want.Protected), "")
	d.differ(FieldRescue, rescue(have.Rescue), "", "the next reboot would start the rescue system")
	d.differ(FieldISO, have.ISO, "", "the next reboot would start it")
	d.power(have)
	m.madeWith(d.Key, want, have)
	m.add(d)
}

// serverNames compares the reverse DNS names of the addresses that stay, and
// shows the templates of those that come.
func (d *draft) serverNames(want schemas.InfraServer, have *Server) {
	var coming schemas.InfraReverseDNS
	switch {
	case want.PublicIPv4 && have.PublicIPv4.IP == "":
		coming.IPv4 = want.ReverseDNS.IPv4
	case want.PublicIPv4:
		d.reverse(ipv4, have.PublicIPv4, want.ReverseDNS)
	}
	switch {
	case want.PublicIPv6 && have.PublicIPv6.IP == "":
		coming.IPv6 = want.ReverseDNS.IPv6
	case want.PublicIPv6:
		d.reverse(ipv6, have.PublicIPv6, want.ReverseDNS)
	}
	d.showReverse(coming)
}

func protection(deletion, rebuilding bool) string {
	switch {
	case deletion && rebuilding:
		return "on"
	case deletion:
		return "deletion only"
	case rebuilding:
		return "rebuilding only"
	default:
		return "off"
	}
}

func rescue(on bool) string {
	if on {
		return "on"
	}
	return ""
}

// serverLocation refuses to move a server.
func (m *maker) serverLocation(d *draft, want schemas.InfraServer, have *Server) {
	if slices.Contains(want.Locations, have.Location) {
		return
	}
	hint := fmt.Sprintf("add %s to its locations, or remove the node and add another: talosgen pool", have.Location)
	if !node(want) {
		hint = fmt.Sprintf("add %s to its locations, or make it again: --replace %s", have.Location, d.Key)
	}
	d.refuse(Field{Name: FieldLocation, from: have.Location, to: words(want.Locations), Reason: "a server cannot move"}, "%s", hint)
}

// serverPlace compares the placement group. A server leaves one while it runs,
// but has to be off to join one.
func (m *maker) serverPlace(d *draft, want schemas.InfraServer, have *Server) {
	from := m.groupName(have.PlacementGroup)
	if from == want.PlacementGroup {
		return
	}
	f := Field{Name: FieldGroup, from: from, to: want.PlacementGroup, Class: InPlace}
	if want.PlacementGroup != "" {
		f.Class = PowerOff
		d.needs(KeyOf(KindPlacementGroup, want.PlacementGroup))
	}
	d.field(f)
}

// serverFirewalls wants every firewall that applies to the labels of a server
// at the server, unless it has no public address to filter. Firewalls by
// selector come with delay: until then the server would be open.
func (m *maker) serverFirewalls(d *draft, want schemas.InfraServer, have *Server) {
	m.needlessFirewalls(d, want, have)
	if have.PublicIPv4.IP == "" && have.PublicIPv6.IP == "" {
		return
	}
	for _, f := range m.firewallsOf(want.Labels) {
		name := firewallName(f)
		id := m.ids[KeyOf(KindFirewall, name)]
		if id != 0 && slices.ContainsFunc(have.Firewalls, func(a AppliedFirewall) bool { return a.ID == id }) {
			continue
		}
		d.needs(KeyOf(KindFirewall, name))
		d.field(Field{Name: FieldFirewalls, Item: name, to: "applied", Class: InPlace, Reason: "the server is open without it"})
	}
}

// needlessFirewalls removes firewalls from a server that they do not apply to any
// more: they came with its creation, and no selector takes them away.
func (m *maker) needlessFirewalls(d *draft, want schemas.InfraServer, have *Server) {
	apply := m.firewallsOf(want.Labels)
	for _, f := range m.desired.Firewalls {
		name := firewallName(f)
		id := m.ids[KeyOf(KindFirewall, name)]
		applied := slices.ContainsFunc(m.observed.Firewalls, func(o Firewall) bool { return o.ID == id && slices.Contains(o.Servers, have.ID) })
		wanted := slices.ContainsFunc(apply, func(a schemas.InfraFirewall) bool { return firewallName(a) == name })
		if id != 0 && applied && !wanted {
			d.field(Field{Name: FieldFirewalls, Item: name, from: "applied", Class: InPlace, Reason: "it is not for servers with these labels"})
		}
	}
}

// madeWith tells of what was decided when a server was made.
func (m *maker) madeWith(key plan.Key, want schemas.InfraServer, have *Server) {
	again := "it concerns servers that are made from now on"
	if !node(want) {
		again += fmt.Sprintf("; to make this one again: --replace %s", key)
	}
	if was := have.Labels[schemas.LabelUserData]; was != "" && was != userDataDigest(want) {
		m.warn(key, "it was made with other user data, SSH keys or host key", again)
	}
	if !m.madeFrom(want.Image, have) {
		m.warn(key, "it was made from another image", again+imageHint(want))
	}
}

func imageHint(want schemas.InfraServer) string {
	if node(want) {
		return "; a running node gets another Talos by an upgrade (docs/how-to/upgrade.md)"
	}
	return ""
}

func (m *maker) deleteServer(s *Server) {
	if s.Status == statusDeleting {
		return
	}
	d := m.draft(KindServer, s.Name, s.ID, Delete)
	d.Destructive, d.LiftProtection, d.Reason = true, s.DeleteProtect, unwanted
	m.add(d)
}

// checkControlPlanes refuses to take away all control planes at once, even with
// every consent: their etcd is the cluster.
func (m *maker) checkControlPlanes() {
	living, staying := 0, 0
	for _, s := range m.observed.Servers {
		if m.owner.owns(s.Labels) && s.Labels[schemas.LabelRole] == schemas.RoleControlPlane {
			living++
			if m.used[KeyOf(KindServer, idText(s.ID))] {
				staying++
			}
		}
	}
	if living > 0 && staying == 0 {
		m.refusal("", fmt.Sprintf("not one of the cluster's control planes would stay, of %d: the cluster would be lost", living),
			"keep at least one until the new ones have joined, or remove the whole cluster: talosgen destroy")
	}
}
