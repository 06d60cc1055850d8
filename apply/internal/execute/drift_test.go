package execute_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/apply/plan/cloud/plantest"
	"github.com/talosgen/talosgen/schemas"
)

// drift is what somebody does by hand in the project, to a server or something
// else by chance. What Hetzner refuses does not happen.
type drift struct {
	name string
	do   func(d *drifter, r *rand.Rand)
}

// drifter is somebody who does things by hand.
type drifter struct {
	*project
	ctx context.Context
}

func choose[T any](r *rand.Rand, all []T, err error) (one T) {
	if err == nil && len(all) > 0 {
		one = all[r.IntN(len(all))]
	}
	return one
}

func (d *drifter) server(r *rand.Rand) *hcloud.Server {
	all, err := d.others.Server.All(d.ctx)
	return choose(r, all, err)
}

func (d *drifter) removeTarget(l *hcloud.LoadBalancer, t hcloud.LoadBalancerTarget) {
	switch {
	case t.LabelSelector != nil:
		_, _, _ = d.others.LoadBalancer.RemoveLabelSelectorTarget(d.ctx, l, t.LabelSelector.Selector)
	case t.IP != nil:
		_, _, _ = d.others.LoadBalancer.RemoveIPTarget(d.ctx, l, net.ParseIP(t.IP.IP))
	}
}

func (d *drifter) balancer(r *rand.Rand) *hcloud.LoadBalancer {
	all, err := d.others.LoadBalancer.All(d.ctx)
	return choose(r, all, err)
}

func (d *drifter) volume(r *rand.Rand) *hcloud.Volume {
	all, err := d.others.Volume.All(d.ctx)
	return choose(r, all, err)
}

func (d *drifter) firewall(r *rand.Rand) *hcloud.Firewall {
	all, err := d.others.Firewall.All(d.ctx)
	return choose(r, all, err)
}

func (d *drifter) network(r *rand.Rand) *hcloud.Network {
	all, err := d.others.Network.All(d.ctx)
	return choose(r, all, err)
}

// record is a set of addresses of the zone.
func (d *drifter) record(r *rand.Rand) *hcloud.ZoneRRSet {
	all, err := d.others.Zone.AllRRSetsWithOpts(d.ctx, &hcloud.Zone{Name: plantest.Zone}, hcloud.ZoneRRSetListOpts{Type: []hcloud.ZoneRRSetType{hcloud.ZoneRRSetTypeA}})
	return choose(r, all, err)
}

var drifts = []drift{
	{"delete a server", func(d *drifter, r *rand.Rand) {
		if s := d.server(r); s != nil {
			off := false
			_, _, _ = d.others.Server.ChangeProtection(d.ctx, s, hcloud.ServerChangeProtectionOpts{Delete: &off, Rebuild: &off})
			d.clock.Advance(time.Minute)
			_, _, _ = d.others.Server.DeleteWithResult(d.ctx, s)
		}
	}},
	{"switch a server off", func(d *drifter, r *rand.Rand) {
		if s := d.server(r); s != nil {
			_, _, _ = d.others.Server.Poweroff(d.ctx, s)
		}
	}},
	{"protect a server", func(d *drifter, r *rand.Rand) {
		if s := d.server(r); s != nil {
			on := r.IntN(2) == 0
			_, _, _ = d.others.Server.ChangeProtection(d.ctx, s, hcloud.ServerChangeProtectionOpts{Delete: &on, Rebuild: &on})
		}
	}},
	{"add a label to a server", func(d *drifter, r *rand.Rand) {
		if s := d.server(r); s != nil {
			s.Labels["by"] = "hand"
			_, _, _ = d.others.Server.Update(d.ctx, s, hcloud.ServerUpdateOpts{Labels: s.Labels})
		}
	}},
	{"detach a server", func(d *drifter, r *rand.Rand) {
		if s := d.server(r); s != nil && len(s.PrivateNet) > 0 {
			_, _, _ = d.others.Server.DetachFromNetwork(d.ctx, s, hcloud.ServerDetachFromNetworkOpts{Network: s.PrivateNet[0].Network})
		}
	}},
	{"enable the rescue system", func(d *drifter, r *rand.Rand) {
		if s := d.server(r); s != nil {
			_, _, _ = d.others.Server.EnableRescue(d.ctx, s, hcloud.ServerEnableRescueOpts{Type: hcloud.ServerRescueTypeLinux64})
		}
	}},
	{"take a server from its placement group", func(d *drifter, r *rand.Rand) {
		if s := d.server(r); s != nil && s.PlacementGroup != nil {
			_, _, _ = d.others.Server.RemoveFromPlacementGroup(d.ctx, s)
		}
	}},
	{"name a server's address", func(d *drifter, r *rand.Rand) {
		if s := d.server(r); s != nil && s.PublicNet.IPv4.IP != nil {
			_, _, _ = d.others.Server.ChangeDNSPtr(d.ctx, s, s.PublicNet.IPv4.IP.String(), hcloud.Ptr("by.hand.example.com"))
		}
	}},
	{"open the firewall", func(d *drifter, r *rand.Rand) {
		if f := d.firewall(r); f != nil {
			_, all, _ := net.ParseCIDR("0.0.0.0/0")
			_, _, _ = d.others.Firewall.SetRules(d.ctx, f, hcloud.FirewallSetRulesOpts{Rules: []hcloud.FirewallRule{{
				Direction: hcloud.FirewallRuleDirectionIn, Protocol: hcloud.FirewallRuleProtocolTCP, Port: hcloud.Ptr("any"), SourceIPs: []net.IPNet{*all},
			}}})
		}
	}},
	{"take the firewall away", func(d *drifter, r *rand.Rand) {
		if f := d.firewall(r); f != nil {
			_, _, _ = d.others.Firewall.RemoveResources(d.ctx, f, f.AppliedTo)
			if r.IntN(2) == 0 {
				d.clock.Advance(time.Minute)
				_, _ = d.others.Firewall.Delete(d.ctx, f)
			}
		}
	}},
	{"delete a load balancer", func(d *drifter, r *rand.Rand) {
		if l := d.balancer(r); l != nil {
			_, _, _ = d.others.LoadBalancer.ChangeProtection(d.ctx, l, hcloud.LoadBalancerChangeProtectionOpts{Delete: hcloud.Ptr(false)})
			d.clock.Advance(time.Minute)
			_, _, _ = d.others.LoadBalancer.DeleteWithResult(d.ctx, l)
		}
	}},
	{"remove a target", func(d *drifter, r *rand.Rand) {
		if l := d.balancer(r); l != nil && len(l.Targets) > 0 {
			d.removeTarget(l, l.Targets[r.IntN(len(l.Targets))])
		}
	}},
	{"change a service", func(d *drifter, r *rand.Rand) {
		if l := d.balancer(r); l != nil && len(l.Services) > 0 {
			_, _, _ = d.others.LoadBalancer.UpdateService(d.ctx, l, l.Services[0].ListenPort, hcloud.LoadBalancerUpdateServiceOpts{
				Protocol: hcloud.LoadBalancerServiceProtocolTCP, DestinationPort: hcloud.Ptr(1234),
			})
		}
	}},
	{"remove a service", func(d *drifter, r *rand.Rand) {
		if l := d.balancer(r); l != nil && len(l.Services) > 0 {
			_, _, _ = d.others.LoadBalancer.DeleteService(d.ctx, l, l.Services[0].ListenPort)
		}
	}},
	{"add a service", func(d *drifter, r *rand.Rand) {
		if l := d.balancer(r); l != nil {
			_, _, _ = d.others.LoadBalancer.AddService(d.ctx, l, hcloud.LoadBalancerAddServiceOpts{
				Protocol: hcloud.LoadBalancerServiceProtocolTCP, ListenPort: hcloud.Ptr(9999), DestinationPort: hcloud.Ptr(9999),
			})
		}
	}},
	{"change an algorithm", func(d *drifter, r *rand.Rand) {
		if l := d.balancer(r); l != nil {
			_, _, _ = d.others.LoadBalancer.ChangeAlgorithm(d.ctx, l, hcloud.LoadBalancerChangeAlgorithmOpts{Type: hcloud.LoadBalancerAlgorithmTypeLeastConnections})
		}
	}},
	{"detach a load balancer", func(d *drifter, r *rand.Rand) {
		if l := d.balancer(r); l != nil && len(l.PrivateNet) > 0 {
			for _, t := range l.Targets {
				d.removeTarget(l, t)
				d.clock.Advance(time.Minute)
			}
			_, _, _ = d.others.LoadBalancer.DetachFromNetwork(d.ctx, l, hcloud.LoadBalancerDetachFromNetworkOpts{Network: l.PrivateNet[0].Network})
		}
	}},
	{"move a load balancer within the network, and hide it", func(d *drifter, r *rand.Rand) {
		l := d.balancer(r)
		if l == nil || len(l.PrivateNet) == 0 {
			return
		}
		network := l.PrivateNet[0].Network
		for _, t := range l.Targets {
			d.removeTarget(l, t)
			d.clock.Advance(time.Minute)
		}
		_, _, _ = d.others.LoadBalancer.EnablePublicInterface(d.ctx, l)
		d.clock.Advance(time.Minute)
		_, _, _ = d.others.LoadBalancer.DetachFromNetwork(d.ctx, l, hcloud.LoadBalancerDetachFromNetworkOpts{Network: network})
		d.clock.Advance(time.Minute)
		_, _, _ = d.others.LoadBalancer.AttachToNetwork(d.ctx, l, hcloud.LoadBalancerAttachToNetworkOpts{Network: network, IP: net.ParseIP("10.0.64.200")})
		d.clock.Advance(time.Minute)
		_, _, _ = d.others.LoadBalancer.DisablePublicInterface(d.ctx, l)
	}},
	{"hide a load balancer", func(d *drifter, r *rand.Rand) {
		if l := d.balancer(r); l != nil {
			_, _, _ = d.others.LoadBalancer.DisablePublicInterface(d.ctx, l)
		}
	}},
	{"remove a route", func(d *drifter, r *rand.Rand) {
		if n := d.network(r); n != nil && len(n.Routes) > 0 {
			_, _, _ = d.others.Network.DeleteRoute(d.ctx, n, hcloud.NetworkDeleteRouteOpts{Route: n.Routes[0]})
		}
	}},
	{"add a subnet", func(d *drifter, r *rand.Rand) {
		if n := d.network(r); n != nil {
			_, ipRange, _ := net.ParseCIDR("10.0.200.0/24")
			_, _, _ = d.others.Network.AddSubnet(d.ctx, n, hcloud.NetworkAddSubnetOpts{Subnet: hcloud.NetworkSubnet{
				Type: hcloud.NetworkSubnetTypeCloud, NetworkZone: hcloud.NetworkZoneEUCentral, IPRange: ipRange,
			}})
		}
	}},
	{"label the network", func(d *drifter, r *rand.Rand) {
		if n := d.network(r); n != nil {
			n.Labels["by"] = "hand"
			_, _, _ = d.others.Network.Update(d.ctx, n, hcloud.NetworkUpdateOpts{Labels: n.Labels})
		}
	}},
	{"delete a floating IP", func(d *drifter, r *rand.Rand) {
		all, err := d.others.FloatingIP.All(d.ctx)
		if f := choose(r, all, err); f != nil {
			_, _, _ = d.others.FloatingIP.ChangeProtection(d.ctx, f, hcloud.FloatingIPChangeProtectionOpts{Delete: hcloud.Ptr(false)})
			d.clock.Advance(time.Minute)
			_, _ = d.others.FloatingIP.Delete(d.ctx, f)
		}
	}},
	{"turn backups on or off", func(d *drifter, r *rand.Rand) {
		s := d.server(r)
		switch {
		case s == nil:
		case s.BackupWindow == "":
			_, _, _ = d.others.Server.EnableBackup(d.ctx, s, "")
		default:
			_, _, _ = d.others.Server.DisableBackup(d.ctx, s)
		}
	}},
	{"attach an ISO", func(d *drifter, r *rand.Rand) {
		all, err := d.others.ISO.All(d.ctx)
		if s, iso := d.server(r), choose(r, all, err); s != nil && iso != nil {
			_, _, _ = d.others.Server.AttachISO(d.ctx, s, iso)
		}
	}},
	{"label a server as of another pool", func(d *drifter, r *rand.Rand) {
		if s := d.server(r); s != nil {
			s.Labels[schemas.LabelPool] = "hand"
			_, _, _ = d.others.Server.Update(d.ctx, s, hcloud.ServerUpdateOpts{Labels: s.Labels})
		}
	}},
	{"take a public address from a server", func(d *drifter, r *rand.Rand) {
		if s := d.server(r); s != nil && s.PublicNet.IPv6.ID != 0 {
			_, _, _ = d.others.Server.Poweroff(d.ctx, s)
			d.clock.Advance(time.Minute)
			_, _, _ = d.others.PrimaryIP.Unassign(d.ctx, s.PublicNet.IPv6.ID)
			d.clock.Advance(time.Minute)
			_, _ = d.others.PrimaryIP.Delete(d.ctx, &hcloud.PrimaryIP{ID: s.PublicNet.IPv6.ID})
		}
	}},
	{"rescale a server", func(d *drifter, r *rand.Rand) {
		if s := d.server(r); s != nil {
			_, _, _ = d.others.Server.Poweroff(d.ctx, s)
			d.clock.Advance(time.Minute)
			_, _, _ = d.others.Server.ChangeType(d.ctx, s, hcloud.ServerChangeTypeOpts{ServerType: &hcloud.ServerType{Name: "ccx23"}})
			d.clock.Advance(time.Minute)
			_, _, _ = d.others.Server.Poweron(d.ctx, s)
		}
	}},
	{"add a target", func(d *drifter, r *rand.Rand) {
		if l := d.balancer(r); l != nil {
			_, _, _ = d.others.LoadBalancer.AddLabelSelectorTarget(d.ctx, l, hcloud.LoadBalancerAddLabelSelectorTargetOpts{Selector: "team=x"})
			d.clock.Advance(time.Minute)
			_, _, _ = d.others.LoadBalancer.AddIPTarget(d.ctx, l, hcloud.LoadBalancerAddIPTargetOpts{IP: net.ParseIP("10.0.88.99")})
		}
	}},
	{"delete a placement group", func(d *drifter, r *rand.Rand) {
		all, err := d.others.PlacementGroup.All(d.ctx)
		if g := choose(r, all, err); g != nil {
			_, _ = d.others.PlacementGroup.Delete(d.ctx, g) // refused while it has servers
		}
	}},
	{"delete a subnet", func(d *drifter, r *rand.Rand) {
		if n := d.network(r); n != nil && len(n.Subnets) > 0 {
			_, _, _ = d.others.Network.DeleteSubnet(d.ctx, n, hcloud.NetworkDeleteSubnetOpts{Subnet: n.Subnets[r.IntN(len(n.Subnets))]})
		}
	}},
	{"detach a volume", func(d *drifter, r *rand.Rand) {
		if v := d.volume(r); v != nil {
			_, _, _ = d.others.Volume.Detach(d.ctx, v)
		}
	}},
	{"label a volume, and take its protection away", func(d *drifter, r *rand.Rand) {
		if v := d.volume(r); v != nil {
			off := false
			_, _, _ = d.others.Volume.ChangeProtection(d.ctx, v, hcloud.VolumeChangeProtectionOpts{Delete: &off})
			labels := maps.Clone(v.Labels)
			labels["team"] = "a"
			_, _, _ = d.others.Volume.Update(d.ctx, v, hcloud.VolumeUpdateOpts{Labels: labels})
		}
	}},
	{"change a record", func(d *drifter, r *rand.Rand) {
		if set := d.record(r); set != nil {
			_, _, _ = d.others.Zone.SetRRSetRecords(d.ctx, set, hcloud.ZoneRRSetSetRecordsOpts{Records: []hcloud.ZoneRRSetRecord{{Value: "198.51.100.1"}}})
		}
	}},
	{"delete a record", func(d *drifter, r *rand.Rand) {
		if set := d.record(r); set != nil {
			_, _, _ = d.others.Zone.DeleteRRSet(d.ctx, set)
		}
	}},
}
