package hetznersim_test

import (
	"context"
	"fmt"
	"net"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// ips are networks, as firewall rules have them.
func ips(all ...string) (out []net.IPNet) {
	for _, text := range all {
		out = append(out, *cidr(text))
	}
	return out
}

func (p *project) running(name string, change ...func(*hcloud.ServerCreateOpts)) *hcloud.Server {
	p.Helper()
	s := p.server(name, change...)
	p.wait(append(s.NextActions, s.Action)...)
	return must(p.client.Server.GetByID(p.Context(), s.Server.ID))
}

func walkServers(p *project) {
	ctx, c := p.Context(), p.client.Server
	n := p.network("a")
	s := p.running("a")
	for _, act := range []func(context.Context, *hcloud.Server) (*hcloud.Action, *hcloud.Response, error){
		c.Reboot, c.Reset, c.Shutdown, c.Poweroff, c.Poweron,
	} {
		p.wait(must(act(ctx, s)))
	}
	p.wait(must(c.AttachToNetwork(ctx, s, hcloud.ServerAttachToNetworkOpts{Network: n, IP: net.ParseIP("10.0.1.9"), AliasIPs: []net.IP{net.ParseIP("10.0.1.10")}})))
	p.wait(must(c.ChangeAliasIPs(ctx, s, hcloud.ServerChangeAliasIPsOpts{Network: n, AliasIPs: []net.IP{net.ParseIP("10.0.1.11")}})))
	p.wait(must(c.ChangeDNSPtr(ctx, s, s.PublicNet.IPv4.IP.String(), hcloud.Ptr("a.example.com"))))
	v6 := s.PublicNet.IPv6.IP.String() + "1"
	p.wait(must(c.ChangeDNSPtr(ctx, s, v6, hcloud.Ptr("b.example.com"))))
	s = must(c.GetByName(ctx, "a"))
	if s.PrivateNet[0].IP.String() != "10.0.1.9" || s.PrivateNet[0].Aliases[0].String() != "10.0.1.11" ||
		s.PublicNet.IPv4.DNSPtr != "a.example.com" || s.PublicNet.IPv6.DNSPtr[v6] != "b.example.com" {
		p.Errorf("%+v", s)
	}
	p.wait(must(c.ChangeDNSPtr(ctx, s, s.PublicNet.IPv4.IP.String(), nil)))
	p.wait(must(c.AttachISO(ctx, s, &hcloud.ISO{Name: "latest-virtio-win.iso"})))
	if s = must(c.GetByID(ctx, s.ID)); s.ISO == nil || s.ISO.Name != "latest-virtio-win.iso" {
		p.Errorf("%+v", s.ISO)
	}
	p.wait(must(c.DetachISO(ctx, s)))
	if s = must(c.GetByID(ctx, s.ID)); s.ISO != nil {
		p.Errorf("%+v", s.ISO)
	}
	_, _, err := c.AttachISO(ctx, s, &hcloud.ISO{Name: "talos-linux-metal-arm64.iso"})
	p.refused(err, hcloud.ErrorCodeInvalidInput)
	p.wait(must(c.DetachFromNetwork(ctx, s, hcloud.ServerDetachFromNetworkOpts{Network: n})))
	must(c.Update(ctx, s, hcloud.ServerUpdateOpts{Name: "b", Labels: map[string]string{"x": "y"}}))
	both := hcloud.ServerChangeProtectionOpts{Delete: hcloud.Ptr(false), Rebuild: hcloud.Ptr(false)}
	p.wait(must(c.ChangeProtection(ctx, s, both)))
	_, _, err = c.ChangeType(ctx, s, hcloud.ServerChangeTypeOpts{ServerType: &hcloud.ServerType{Name: "cx33"}, UpgradeDisk: true})
	p.refused(err, hcloud.ErrorCodeServerNotStopped)
	p.wait(must(c.Poweroff(ctx, s)))
	p.wait(must(c.ChangeType(ctx, s, hcloud.ServerChangeTypeOpts{ServerType: &hcloud.ServerType{Name: "cx33"}, UpgradeDisk: false})))
	if s = must(c.GetByID(ctx, s.ID)); s.ServerType.Name != "cx33" || s.PrimaryDiskSize != 40 || s.Status != hcloud.ServerStatusRunning {
		p.Errorf("%s, disk %d, %s", s.ServerType.Name, s.PrimaryDiskSize, s.Status)
	}
	must2(c.All(ctx))
	walkActions(p, c.Action, s, fmt.Sprintf("/servers/%d", s.ID))
	p.wait(must(c.DeleteWithResult(ctx, s)).Action)
}

func walkImages(p *project) {
	ctx, c := p.Context(), p.client
	k := must(c.SSHKey.Create(ctx, hcloud.SSHKeyCreateOpts{Name: "a", PublicKey: publicKey}))
	s := p.running("a")
	rescue := must(c.Server.EnableRescue(ctx, s, hcloud.ServerEnableRescueOpts{Type: hcloud.ServerRescueTypeLinux64, SSHKeys: []*hcloud.SSHKey{k}}))
	p.wait(rescue.Action)
	if s = must(c.Server.GetByID(ctx, s.ID)); !s.RescueEnabled || rescue.RootPassword == "" {
		p.Error("no rescue system")
	}
	p.wait(must(c.Server.DisableRescue(ctx, s)))
	p.wait(must(c.Server.EnableBackup(ctx, s, "")))
	backup := must(c.Server.CreateImage(ctx, s, &hcloud.ServerCreateImageOpts{Type: hcloud.ImageTypeBackup}))
	p.wait(backup.Action)
	made := must(c.Server.CreateImage(ctx, s, &hcloud.ServerCreateImageOpts{Type: hcloud.ImageTypeSnapshot,
		Description: hcloud.Ptr("one"), Labels: map[string]string{"os": "talos"}}))
	if made.Image.Status != hcloud.ImageStatusCreating {
		p.Errorf("%s", made.Image.Status)
	}
	p.wait(made.Action)
	p.wait(must(c.Server.DisableBackup(ctx, s)))
	if gone := must(c.Image.GetByID(ctx, backup.Image.ID)); gone != nil {
		p.Error("a backup outlived the backups")
	}
	found := must2(c.Image.AllWithOpts(ctx, hcloud.ImageListOpts{ListOpts: hcloud.ListOpts{LabelSelector: "os=talos"},
		Type: []hcloud.ImageType{hcloud.ImageTypeSnapshot}, Architecture: []hcloud.Architecture{hcloud.ArchitectureX86}}))
	if len(found) != 1 || found[0].Status != hcloud.ImageStatusAvailable || found[0].CreatedFrom.ID != s.ID {
		p.Errorf("%v", found)
	}
	i := found[0]
	must(c.Image.Update(ctx, i, hcloud.ImageUpdateOpts{Description: hcloud.Ptr("two"), Labels: map[string]string{}}))
	p.wait(must(c.Image.ChangeProtection(ctx, i, hcloud.ImageChangeProtectionOpts{Delete: hcloud.Ptr(false)})))
	p.wait(must(c.Server.RebuildWithResult(ctx, s, hcloud.ServerRebuildOpts{Image: i})).Action)
	walkActions(p, c.Image.Action, i, fmt.Sprintf("/images/%d", i.ID))
	must(0, 0, second(c.Image.Delete(ctx, i)))
}

func walkVolumes(p *project) {
	ctx, c := p.Context(), p.client.Volume
	s := p.running("a")
	made := must(c.Create(ctx, hcloud.VolumeCreateOpts{Name: "a", Size: 10, Server: s, Format: hcloud.Ptr("xfs")}))
	p.wait(append(made.NextActions, made.Action)...)
	v := must(c.GetByID(ctx, made.Volume.ID))
	if v.Server.ID != s.ID || v.Status != hcloud.VolumeStatusAvailable || v.Location.Name != "nbg1" {
		p.Errorf("%+v", v)
	}
	p.wait(must(c.Detach(ctx, v)))
	p.wait(must(c.Attach(ctx, v, s)))
	p.wait(must(c.Resize(ctx, v, 20)))
	p.wait(must(c.Detach(ctx, v)))
	p.wait(must(c.ChangeProtection(ctx, v, hcloud.VolumeChangeProtectionOpts{Delete: hcloud.Ptr(false)})))
	must(c.Update(ctx, v, hcloud.VolumeUpdateOpts{Name: "b"}))
	must2(c.All(ctx))
	walkActions(p, c.Action, v, fmt.Sprintf("/volumes/%d", v.ID))
	must(0, 0, second(c.Delete(ctx, v)))
}
