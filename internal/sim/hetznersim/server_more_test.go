package hetznersim_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// machines notes what it is told.
type machines struct{ events []string }

func (m *machines) Event(e hetznersim.Event) {
	text := fmt.Sprint(e.Kind, " ", e.Server.Name)
	if e.Server.Rescue {
		text += fmt.Sprintf(" rescue with %d keys", len(e.Server.RescueKeys))
	}
	m.events = append(m.events, text)
}

// TestMachines: what stands behind servers hears of everything, in order.
func TestMachines(t *testing.T) {
	m := &machines{}
	p := newProject(t, hetznersim.Options{Machines: m})
	k := must(p.client.SSHKey.Create(t.Context(), hcloud.SSHKeyCreateOpts{Name: "a", PublicKey: publicKey}))
	s := p.running("a", func(o *hcloud.ServerCreateOpts) { o.UserData = "x" })
	p.wait(must(p.client.Server.EnableRescue(t.Context(), s, hcloud.ServerEnableRescueOpts{Type: hcloud.ServerRescueTypeLinux64, SSHKeys: []*hcloud.SSHKey{k}})).Action)
	p.wait(must(p.client.Server.Reset(t.Context(), s)))
	p.wait(must(p.client.Server.Reboot(t.Context(), s)))
	p.wait(must(p.client.Server.Poweroff(t.Context(), s)))
	p.wait(must(p.client.Server.RebuildWithResult(t.Context(), s, hcloud.ServerRebuildOpts{Image: &hcloud.Image{Name: "debian-12"}})).Action)
	p.wait(must(p.client.Server.DeleteWithResult(t.Context(), s)).Action)
	want := []string{"created a", "booted a", "booted a rescue with 1 keys", "booted a", "halted a", "rebuilt a", "booted a", "deleted a"}
	if !slices.Equal(m.events, want) {
		t.Errorf("%q", m.events)
	}
}

// TestRescueEnds: nobody booted it for an hour.
func TestRescueEnds(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	clock := p.sim.Clock().(*hetznersim.ScriptedClock)
	s := p.running("a")
	rescue := func() bool { return must(p.client.Server.GetByID(t.Context(), s.ID)).RescueEnabled }
	enable := func() {
		p.wait(must(p.client.Server.EnableRescue(t.Context(), s, hcloud.ServerEnableRescueOpts{Type: hcloud.ServerRescueTypeLinux64})).Action)
	}
	enable()
	clock.Advance(50 * time.Minute)
	enable()
	clock.Advance(50 * time.Minute)
	if !rescue() {
		t.Error("ended too early")
	}
	clock.Advance(10 * time.Minute)
	if rescue() {
		t.Error("did not end")
	}
}

// TestDeafServers: a shutdown that the operating system does not hear succeeds,
// and does nothing.
func TestDeafServers(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	s := p.running("a")
	p.sim.IgnoreShutdown("a")
	p.wait(must(p.client.Server.Shutdown(t.Context(), s)))
	p.wait(must(p.client.Server.Reboot(t.Context(), s)))
	p.sim.Clock().(*hetznersim.ScriptedClock).Advance(time.Hour)
	if now := must(p.client.Server.GetByID(t.Context(), s.ID)); now.Status != hcloud.ServerStatusRunning {
		t.Errorf("%s", now.Status)
	}
	p.wait(must(p.client.Server.Poweroff(t.Context(), s)))
	if now := must(p.client.Server.GetByID(t.Context(), s.ID)); now.Status != hcloud.ServerStatusOff {
		t.Errorf("%s", now.Status)
	}
}

// TestLoadBalancerDeletion: both shapes that the API has had. Version 2.52 of the
// client deletes with either, but takes an answer without a body for an error.
func TestLoadBalancerDeletion(t *testing.T) {
	for old, want := range map[bool]int{true: http.StatusNoContent, false: http.StatusCreated} {
		p := newProject(t, hetznersim.Options{OldLoadBalancerDelete: old})
		made := must(p.client.LoadBalancer.Create(t.Context(), hcloud.LoadBalancerCreateOpts{Name: "a",
			LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"}, Location: &hcloud.Location{Name: "fsn1"}}))
		p.wait(made.Action)
		_, got, err := p.client.LoadBalancer.DeleteWithResult(t.Context(), made.LoadBalancer)
		if (err != nil) != old || got.StatusCode != want {
			t.Errorf("old %v: %v, %v", old, got, err)
		}
		if b := must(p.client.LoadBalancer.GetByID(t.Context(), made.LoadBalancer.ID)); b != nil {
			t.Errorf("old %v: still there", old)
		}
		p.sim.Clock().(*hetznersim.ScriptedClock).Advance(time.Minute)
		if left := must2(p.client.PrimaryIP.All(t.Context())); len(left) != 0 {
			t.Errorf("old %v: %v", old, left)
		}
	}
}

// TestPrimaryIPsOfLoadBalancers: one that existed before outlives its load
// balancer.
func TestPrimaryIPsOfLoadBalancers(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	ip := must(p.client.PrimaryIP.Create(t.Context(), hcloud.PrimaryIPCreateOpts{Name: "a", Type: "ipv4", Location: "fsn1"})).PrimaryIP
	made := must(p.client.LoadBalancer.Create(t.Context(), hcloud.LoadBalancerCreateOpts{Name: "a",
		LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"}, Location: &hcloud.Location{Name: "fsn1"},
		PublicNet: &hcloud.LoadBalancerCreateOptsPublicNet{IPv4: ip}}))
	p.wait(made.Action)
	now := must(p.client.PrimaryIP.GetByID(t.Context(), ip.ID))
	if !made.LoadBalancer.PublicNet.IPv4.IP.Equal(ip.IP) || now.AssigneeType != "load_balancer" || now.AssigneeID != made.LoadBalancer.ID {
		t.Errorf("%+v %+v", made.LoadBalancer.PublicNet, now)
	}
	p.wait(must(p.client.LoadBalancer.DeleteWithResult(t.Context(), made.LoadBalancer)).Action)
	if left := must2(p.client.PrimaryIP.All(t.Context())); len(left) != 1 || left[0].AssigneeID != 0 || left[0].AssigneeType != "unassigned" {
		t.Errorf("%+v", left)
	}
}

// TestRescaledServers come back running, or stay off if the project says so.
func TestRescaledServers(t *testing.T) {
	for staysOff, want := range map[bool]hcloud.ServerStatus{true: hcloud.ServerStatusOff, false: hcloud.ServerStatusRunning} {
		p := newProject(t, hetznersim.Options{RescaledStaysOff: staysOff})
		s := p.running("a")
		p.wait(must(p.client.Server.Poweroff(t.Context(), s)))
		change := func(name string, upgrade bool) (*hcloud.Action, error) {
			a, _, err := p.client.Server.ChangeType(t.Context(), s, hcloud.ServerChangeTypeOpts{ServerType: &hcloud.ServerType{Name: name}, UpgradeDisk: upgrade})
			return a, err
		}
		_, err := change("cax21", false)
		p.refused(err, hcloud.ErrorCodeInvalidServerType)
		a, err := change("cx33", true)
		p.wait(must2(a, err))
		if now := must(p.client.Server.GetByID(t.Context(), s.ID)); now.Status != want || now.PrimaryDiskSize != 80 {
			t.Errorf("%s, %d GB", now.Status, now.PrimaryDiskSize)
		}
		p.wait(must(p.client.Server.Poweroff(t.Context(), s)))
		_, err = change("cx23", false) // its disk is smaller by now
		p.refused(err, hcloud.ErrorCodeInvalidServerType)
	}
}

// TestDeletedNetworksLeaveNobodyBehind: servers and load balancers are detached.
func TestDeletedNetworksLeaveNobodyBehind(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	n := p.network("a")
	s := p.running("a", func(o *hcloud.ServerCreateOpts) { o.Networks = []*hcloud.Network{n} })
	if now := must(p.client.Network.GetByID(t.Context(), n.ID)); len(now.Servers) != 1 {
		t.Errorf("%+v", now)
	}
	p.wait(must(p.client.Network.AddSubnet(t.Context(), n, hcloud.NetworkAddSubnetOpts{Subnet: hcloud.NetworkSubnet{
		Type: hcloud.NetworkSubnetTypeCloud, NetworkZone: "eu-central", IPRange: cidr("10.0.9.0/24")}})))
	must(0, 0, second(p.client.Network.Delete(t.Context(), n)))
	if now := must(p.client.Server.GetByID(t.Context(), s.ID)); len(now.PrivateNet) != 0 {
		t.Errorf("%+v", now.PrivateNet)
	}
}

// TestConflicts: while an action runs, a server and a load balancer are locked,
// a network and a firewall conflict.
func TestConflicts(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	n := p.network("a")
	subnet := func(r string) error {
		_, _, err := p.client.Network.AddSubnet(t.Context(), n, hcloud.NetworkAddSubnetOpts{Subnet: hcloud.NetworkSubnet{
			Type: hcloud.NetworkSubnetTypeCloud, NetworkZone: "eu-central", IPRange: cidr(r)}})
		return err
	}
	p.sim.Restore(p.sim.Snapshot())
	if err := subnet("10.0.2.0/24"); err != nil {
		t.Fatal(err)
	}
	clock := p.sim.Clock().(*hetznersim.ScriptedClock)
	clock.Advance(-2 * time.Second) // the action has not ended
	p.refused(subnet("10.0.3.0/24"), hcloud.ErrorCodeConflict)
	clock.Advance(2 * time.Second)
	if err := subnet("10.0.3.0/24"); err != nil {
		t.Error(err)
	}
	s := p.server("a").Server
	_, _, err := p.client.Server.Poweroff(t.Context(), s)
	p.refused(err, hcloud.ErrorCodeLocked)
	_, _, err = p.client.Server.DeleteWithResult(t.Context(), s)
	p.refused(err, hcloud.ErrorCodeLocked)
	if _, _, err := p.client.Server.Update(t.Context(), s, hcloud.ServerUpdateOpts{Labels: map[string]string{"x": "y"}}); err != nil {
		t.Error(err)
	}
}

// TestSelectorsTakeTheirTime: a label selector notices a server after a while.
func TestSelectorsTakeTheirTime(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	f := must(p.client.Firewall.Create(t.Context(), hcloud.FirewallCreateOpts{Name: "a", ApplyTo: []hcloud.FirewallResource{
		{Type: hcloud.FirewallResourceTypeLabelSelector, LabelSelector: &hcloud.FirewallResourceLabelSelector{Selector: "role=x"}}}}))
	p.wait(f.Actions...)
	s := p.running("a")
	look := func(onServer string, selected int) {
		t.Helper()
		seen := must(p.client.Server.GetByID(t.Context(), s.ID)).PublicNet.Firewalls
		status := "none"
		if len(seen) > 0 {
			status = string(seen[0].Status)
		}
		to := must(p.client.Firewall.GetByID(t.Context(), f.Firewall.ID)).AppliedTo[0].AppliedToResources
		if status != onServer || len(to) != selected {
			t.Errorf("%s, %v", status, to)
		}
	}
	look("none", 0)
	must(p.client.Server.Update(t.Context(), s, hcloud.ServerUpdateOpts{Labels: map[string]string{"role": "x"}}))
	look("pending", 0)
	p.sim.Clock().(*hetznersim.ScriptedClock).Advance(5 * time.Second)
	look("applied", 1)
}
