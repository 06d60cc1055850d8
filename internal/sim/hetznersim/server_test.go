package hetznersim_test

import (
	"net"
	"testing"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/sim/hetznersim"
)

func cidr(text string) *net.IPNet {
	_, n, err := net.ParseCIDR(text)
	if err != nil {
		panic(err)
	}
	return n
}

func (p *project) network(name string) *hcloud.Network {
	p.Helper()
	return must(p.client.Network.Create(p.Context(), hcloud.NetworkCreateOpts{Name: name, IPRange: cidr("10.0.0.0/16"),
		Subnets: []hcloud.NetworkSubnet{{Type: hcloud.NetworkSubnetTypeCloud, IPRange: cidr("10.0.1.0/24"), NetworkZone: "eu-central"}}}))
}

// TestServerLife walks a server through its states.
func TestServerLife(t *testing.T) {
	p := newProject(t, hetznersim.Options{})
	net := p.network("net")
	made := p.server("a", func(o *hcloud.ServerCreateOpts) {
		o.Networks, o.Labels = []*hcloud.Network{net}, map[string]string{"role": "worker"}
	})
	status := func(want hcloud.ServerStatus) *hcloud.Server {
		t.Helper()
		s := must(p.client.Server.GetByID(t.Context(), made.Server.ID))
		if s.Status != want {
			t.Errorf("%s, not %s", s.Status, want)
		}
		return s
	}
	if made.Server.Status != hcloud.ServerStatusInitializing || !made.Server.Locked {
		t.Errorf("created as %s, locked %v", made.Server.Status, made.Server.Locked)
	}
	if len(made.Server.PrivateNet) != 0 || len(made.NextActions) != 1 {
		t.Errorf("private networks %v, next actions %v", made.Server.PrivateNet, made.NextActions)
	}
	p.wait(append(made.NextActions, made.Action)...)
	s := status(hcloud.ServerStatusRunning)
	if s.Locked || s.PrivateNet[0].IP.String() != "10.0.1.1" && s.PrivateNet[0].IP.String() != "10.0.1.2" {
		t.Errorf("locked %v, %v", s.Locked, s.PrivateNet)
	}
	if s.PublicNet.IPv4.IP == nil || s.PublicNet.IPv6.Network == nil || s.Location.Name != "nbg1" || s.ServerType.Name != "cx23" {
		t.Errorf("%+v", s.PublicNet)
	}

	p.wait(must(p.client.Server.Shutdown(t.Context(), s)))
	status(hcloud.ServerStatusRunning) // the operating system takes its time
	p.sim.Clock().(*hetznersim.ScriptedClock).Advance(10e9)
	status(hcloud.ServerStatusOff)
	p.wait(must(p.client.Server.Poweron(t.Context(), s)))
	status(hcloud.ServerStatusRunning)
	p.wait(must(p.client.Server.Poweroff(t.Context(), s)))
	status(hcloud.ServerStatusOff)

	p.wait(must(p.client.Server.ChangeProtection(t.Context(), s, hcloud.ServerChangeProtectionOpts{Delete: hcloud.Ptr(true), Rebuild: hcloud.Ptr(true)})))
	_, _, err := p.client.Server.DeleteWithResult(t.Context(), s)
	p.refused(err, hcloud.ErrorCodeProtected)
	p.wait(must(p.client.Server.ChangeProtection(t.Context(), s, hcloud.ServerChangeProtectionOpts{Delete: hcloud.Ptr(false), Rebuild: hcloud.Ptr(false)})))
	gone := must(p.client.Server.DeleteWithResult(t.Context(), s))
	status(hcloud.ServerStatusDeleting)
	_, _, err = p.client.Server.Poweron(t.Context(), s)
	p.refused(err, hcloud.ErrorCodeLocked)
	p.wait(gone.Action)
	if s := must(p.client.Server.GetByID(t.Context(), s.ID)); s != nil {
		t.Errorf("still there: %s", s.Status)
	}
	if ips := must2(p.client.PrimaryIP.All(t.Context())); len(ips) != 0 {
		t.Errorf("primary IPs outlived their server: %v", ips)
	}
}

func must2[V any](v V, err error) V { return must(v, 0, err) }
