package hetznersim_test

import (
	"net"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

// TestVSwitches: a subnet is coupled with a vSwitch that the owner has, in one
// network only, and a load balancer in that network reaches what is behind it.
func TestVSwitches(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	p.sim.AddVSwitch(42)
	ctx, c := p.Context(), p.client
	coupled := func(id int64) hcloud.NetworkAddSubnetOpts {
		_, r, _ := net.ParseCIDR("10.0.2.0/24")
		return hcloud.NetworkAddSubnetOpts{Subnet: hcloud.NetworkSubnet{Type: hcloud.NetworkSubnetTypeVSwitch, IPRange: r,
			NetworkZone: hcloud.NetworkZoneEUCentral, VSwitchID: id}}
	}
	a, b := p.network("a"), p.network("b")
	_, _, err := c.Network.AddSubnet(ctx, a, coupled(43))
	p.refused(err, hcloud.ErrorCodeServiceError)
	p.wait(must(c.Network.AddSubnet(ctx, a, coupled(42))))
	_, _, err = c.Network.AddSubnet(ctx, b, coupled(42))
	p.refused(err, hcloud.ErrorCodeVSwitchAlreadyUsed)

	made := must(c.LoadBalancer.Create(ctx, hcloud.LoadBalancerCreateOpts{Name: "a", LoadBalancerType: &hcloud.LoadBalancerType{Name: "lb11"},
		Location: &hcloud.Location{Name: "nbg1"}, Network: a}))
	p.wait(made.Action)
	add := func(ip string) error {
		_, _, err := c.LoadBalancer.AddIPTarget(ctx, made.LoadBalancer, hcloud.LoadBalancerAddIPTargetOpts{IP: net.ParseIP(ip)})
		return err
	}
	p.refused(add("10.0.3.7"), "ip_not_in_vswitch_subnet")
	if err := add("10.0.2.7"); err != nil {
		t.Error(err)
	}
}
