package cloud

import (
	"fmt"
	"slices"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// servers plans servers.
type servers struct {
	*planner
	images *images
}

// Statuses of servers that matter here.
const (
	statusRunning    = "running"
	statusOff        = "off"
	statusStopping   = "stopping"
	statusDeleting   = "deleting"
	statusRebuilding = "rebuilding"
)

// compare compares servers.
func (p *servers) compare() {
	for _, want := range p.desired.Servers {
		have, blocked := claim(p.planner, KindServer, want.Name, p.observed.Servers)
		switch {
		case blocked:
		case have == nil || have.Status == statusDeleting:
			p.createServer(want, Create, nil)
		case p.replaces(want, have), p.recreates(want, have):
			p.createServer(want, Replace, have)
		default:
			p.updateServer(want, have)
		}
	}
	stale(p.planner, KindServer, p.observed.Servers, p.deleteServer)
	p.checkControlPlanes()
}

// replaces reports whether a server is to be made again because somebody asked
// for it.
func (p *servers) replaces(want schemas.InfraServer, have *Server) bool {
	key := KeyOf(KindServer, want.Name)
	if !plan.Named(p.policy.Replace, key, want.Name) {
		return false
	}
	if node(want) && !plan.Named(p.policy.Left, key, want.Name) {
		p.refusal(key, "a node is not replaced by making its server again: its data and its place in etcd would be lost",
			"let the node leave the cluster first: talosgen replace")
		return false
	}
	return have != nil
}

// node reports whether a server is a node of the cluster.
func node(s schemas.InfraServer) bool { return s.Role != schemas.RoleNATGateway }

// createServer plans a new server, or one in the place of have.
func (p *servers) createServer(want schemas.InfraServer, action Action, have *Server) {
	d := buildChange(KindServer, want.Name, 0, action)
	d.Reason = missing
	if want.Surge {
		d.Reason = "it stands in while nodes of the pool " + want.Pool + " are recreated, and is deleted then"
	}
	if action == Replace {
		p.leadAway(d, have)
		d.ID, d.Destructive, d.LiftProtection = have.ID, true, have.DeleteProtect
		d.Reason = p.reasonOf(want)
	}
	p.candidates(d, want)
	p.images.choose(d, want.Image)
	d.show(FieldPrivateIP, want.PrivateIP)
	for _, a := range []struct {
		name string
		want bool
	}{{FieldPublicIPv4, want.PublicIPv4}, {FieldPublicIPv6, want.PublicIPv6}, {FieldBackups, want.Backups}, {FieldProtected, want.Protected}, {FieldKeepIPs, want.KeepPrimaryIPs}} {
		if a.want {
			d.show(a.name, "on")
		}
	}
	d.show(FieldGroup, want.PlacementGroup)
	d.show(FieldVolumes, p.madeWithVolumes(want))
	d.showReverse(want.ReverseDNS)
	if want.UserData != "" {
		d.show("userData", "digest "+userDataDigest(want))
	}
	p.serverNeeds(d, want)
	p.sshKeys(d.Key, want)
	p.add(d)
}

// serverNeeds lets a server wait for what it is created with, and for what has
// its address or its place in a placement group until then.
func (p *servers) serverNeeds(d *changeBuilder, want schemas.InfraServer) {
	d.needs(p.networkKey(), p.subnetFor(want.PrivateIP))
	for _, f := range p.firewallsOf(want.Labels) {
		d.needs(KeyOf(KindFirewall, firewallName(f)))
	}
	if want.PlacementGroup != "" {
		d.needs(KeyOf(KindPlacementGroup, want.PlacementGroup))
	}
	if node(want) && !want.PublicIPv4 && !want.PublicIPv6 {
		p.needsGateway(d)
	}
	if want.KeepPrimaryIPs {
		d.needs(KeyOf(KindPrimaryIP, PrimaryIPName(want.Name, ipv4)), KeyOf(KindPrimaryIP, PrimaryIPName(want.Name, ipv6)))
	}
	group := p.ids[KeyOf(KindPlacementGroup, want.PlacementGroup)]
	for _, s := range p.observed.Servers {
		if p.hasAddress(s, want.PrivateIP) || group != 0 && p.full[group] && s.PlacementGroup == group {
			d.after(KeyOf(KindServer, s.Name))
		}
	}
}

// needsGateway lets a node without public addresses wait for its way out.
func (p *servers) needsGateway(d *changeBuilder) {
	if p.want == nil {
		return
	}
	standby := ""
	for _, r := range p.want.Routes {
		if r.Destination == "0.0.0.0/0" {
			d.needs(KeyOf(KindRoute, r.Destination))
			standby = r.Standby
		}
	}
	for _, s := range p.desired.Servers {
		if !node(s) && (standby == "" || s.PrivateIP != standby) {
			d.needs(KeyOf(KindServer, s.Name))
		}
	}
}

// leadAway lets a server that goes wait until no route leads to it any more.
func (p *servers) leadAway(d *changeBuilder, have *Server) {
	if p.net == nil {
		return
	}
	for _, r := range p.net.Routes {
		if p.hasAddress(*have, r.Gateway) {
			d.needs(KeyOf(KindRoute, r.Destination))
		}
	}
}

// sshKeys refuses a new server if a key that it should have is not there.
func (p *servers) sshKeys(key plan.Key, want schemas.InfraServer) {
	for _, name := range want.SSHKeys {
		if !slices.ContainsFunc(p.observed.SSHKeys, func(k SSHKey) bool { return k.Name == name }) {
			p.refusal(key, fmt.Sprintf("there is no SSH key %s in the project", name), "add it in Hetzner's console, or correct sshKeys in cluster.yaml")
		}
	}
}

// updateServer compares a living server field by field.
func (p *servers) updateServer(want schemas.InfraServer, have *Server) {
	d := buildChange(KindServer, want.Name, have.ID, Update)
	p.serverType(d, want, have)
	p.serverLocation(d, want, have)
	p.serverPlace(d, want, have)
	p.serverAddresses(d, want, have)
	p.serverFirewalls(d, want, have)
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
	p.madeWith(d.Key, want, have)
	if (&gateways{p.planner}).oneOfTwo(want) && len(d.switchedOffFor()) > 0 {
		p.leadAway(d, have)
	}
	p.add(d)
}

// serverNames compares the reverse DNS names of the addresses that stay, and
// shows the templates of those that come.
func (d *changeBuilder) serverNames(want schemas.InfraServer, have *Server) {
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

// serverLocation refuses to move a server that is no node: nodes are made anew.
func (p *servers) serverLocation(d *changeBuilder, want schemas.InfraServer, have *Server) {
	if node(want) || slices.Contains(want.Locations, have.Location) {
		return
	}
	d.refuse(Field{Name: FieldLocation, from: have.Location, to: words(want.Locations), Reason: "a server cannot move"},
		"add %s to its locations, or make it again: --replace %s", have.Location, d.Key)
}

// serverPlace compares the placement group. A server leaves one while it runs,
// but has to be off to join one.
func (p *servers) serverPlace(d *changeBuilder, want schemas.InfraServer, have *Server) {
	from := p.observed.groupName(have.PlacementGroup)
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

// madeWith tells of what was decided when a server was made.
func (p *servers) madeWith(key plan.Key, want schemas.InfraServer, have *Server) {
	again := "it concerns servers that are made from now on"
	if !node(want) {
		again += fmt.Sprintf("; to make this one again: --replace %s", key)
	}
	if was := have.Labels[schemas.LabelUserData]; was != "" && was != userDataDigest(want) {
		p.warn(key, "it was made with other user data, SSH keys or host key", again)
	}
	t := p.observed.Catalogue.typeOf(have.Type)
	forced := t != nil && t.Architecture != want.Image.Architecture && len(p.onlyNew(want, have)) > 0 // by its type
	if !forced && !p.madeFrom(want.Image, have) {
		p.warn(key, "it was made from another image", again+imageHint(want))
	}
}

func imageHint(want schemas.InfraServer) string {
	if node(want) {
		return "; a running node gets another Talos by an upgrade (docs/how-to/upgrade.md)"
	}
	return ""
}

func (p *servers) deleteServer(s *Server) {
	if s.Status == statusDeleting {
		return
	}
	d := buildChange(KindServer, s.Name, s.ID, Delete)
	d.Destructive, d.LiftProtection, d.Reason = true, s.DeleteProtect, unwanted
	p.leadAway(d, s)
	p.add(d)
}

// checkControlPlanes refuses to take away all control planes at once, even with
// every consent: their etcd is the cluster.
func (p *servers) checkControlPlanes() {
	running, staying := 0, 0
	for _, s := range p.observed.Servers {
		if p.owner.owns(s.Labels) && schemas.RoleOf(s.Labels) == schemas.RoleControlPlane {
			running++
			if p.used[KeyOf(KindServer, idText(s.ID))] {
				staying++
			}
		}
	}
	if running > 0 && staying == 0 {
		p.refusal("", fmt.Sprintf("not one of the cluster's control planes would stay, of %d: the cluster would be lost", running),
			"keep at least one until the new ones have joined, or remove the whole cluster: talosgen destroy")
	}
}
