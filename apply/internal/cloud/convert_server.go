package cloud

import (
	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
)

func serverFrom(s *hcloud.Server) cloudplan.Server {
	out := cloudplan.Server{
		Meta:           meta(s.ID, s.Name, s.Labels, s.Created),
		Status:         string(s.Status),
		Location:       locationName(s.Location),
		DiskSize:       s.PrimaryDiskSize,
		DeleteProtect:  s.Protection.Delete,
		RebuildProtect: s.Protection.Rebuild,
		Backups:        s.BackupWindow != "",
		Rescue:         s.RescueEnabled,
		Locked:         s.Locked,
		Volumes:        convert(s.Volumes, func(v *hcloud.Volume) int64 { return v.ID }),
	}
	if s.ServerType != nil {
		out.Type = s.ServerType.Name
	}
	if s.Image != nil {
		out.ImageID, out.ImageName, out.ImageLabels = s.Image.ID, s.Image.Name, s.Image.Labels
	}
	if s.PlacementGroup != nil {
		out.PlacementGroup = s.PlacementGroup.ID
	}
	if s.ISO != nil {
		out.ISO = s.ISO.Name
	}
	addServerNets(&out, s)
	return out
}

func addServerNets(out *cloudplan.Server, s *hcloud.Server) {
	if v4 := s.PublicNet.IPv4; !v4.IsUnspecified() {
		out.PublicIPv4 = cloudplan.PublicIP{ID: v4.ID, IP: address(v4.IP), DNSPtr: v4.DNSPtr}
	}
	if v6 := s.PublicNet.IPv6; v6.Network != nil && !v6.IsUnspecified() {
		network := cidr(v6.Network)
		out.PublicIPv6 = cloudplan.PublicIP{ID: v6.ID, IP: network, DNSPtr: v6.DNSPtr[firstAddress(network)]}
	}
	for _, n := range s.PrivateNet {
		out.PrivateNets = append(out.PrivateNets, cloudplan.PrivateNet{
			Network: n.Network.ID, IP: address(n.IP), AliasIPs: addressesOf(n.Aliases),
		})
	}
	for _, f := range s.PublicNet.Firewalls {
		out.Firewalls = append(out.Firewalls, cloudplan.AppliedFirewall{ID: f.Firewall.ID, Status: string(f.Status)})
	}
}

func placementGroupFrom(g *hcloud.PlacementGroup) cloudplan.PlacementGroup {
	out := cloudplan.PlacementGroup{Meta: meta(g.ID, g.Name, g.Labels, g.Created), Type: string(g.Type)}
	if len(g.Servers) > 0 {
		out.Servers = g.Servers
	}
	return out
}

func floatingIPFrom(f *hcloud.FloatingIP) cloudplan.FloatingIP {
	out := cloudplan.FloatingIP{
		Meta:        meta(f.ID, f.Name, f.Labels, f.Created),
		Type:        string(f.Type),
		Location:    locationName(f.HomeLocation),
		Description: f.Description,
		Protected:   f.Protection.Delete,
		IP:          address(f.IP),
	}
	named := out.IP
	if f.Network != nil {
		out.IP = cidr(f.Network)
		named = firstAddress(out.IP)
	}
	out.DNSPtr = f.DNSPtr[named]
	if f.Server != nil {
		out.Server = f.Server.ID
	}
	return out
}

func primaryIPFrom(p *hcloud.PrimaryIP) cloudplan.PrimaryIP {
	out := cloudplan.PrimaryIP{
		Meta:       meta(p.ID, p.Name, p.Labels, p.Created),
		Type:       string(p.Type),
		Location:   locationName(p.Location),
		IP:         address(p.IP),
		Assignee:   p.AssigneeID,
		AutoDelete: p.AutoDelete,
		Protected:  p.Protection.Delete,
	}
	if p.Network != nil {
		out.IP = cidr(p.Network)
	}
	return out
}

func sshKeyFrom(k *hcloud.SSHKey) cloudplan.SSHKey {
	return cloudplan.SSHKey{
		Meta:        meta(k.ID, k.Name, k.Labels, k.Created),
		Fingerprint: k.Fingerprint,
		PublicKey:   k.PublicKey,
	}
}

func volumeFrom(v *hcloud.Volume) cloudplan.Volume {
	out := cloudplan.Volume{
		Meta:      meta(v.ID, v.Name, v.Labels, v.Created),
		Size:      v.Size,
		Location:  locationName(v.Location),
		Protected: v.Protection.Delete,
	}
	if v.Server != nil {
		out.Server = v.Server.ID
	}
	return out
}

func imageFrom(i *hcloud.Image) cloudplan.Image {
	return cloudplan.Image{
		Meta:         meta(i.ID, i.Name, i.Labels, i.Created),
		Type:         string(i.Type),
		Status:       string(i.Status),
		Description:  i.Description,
		Architecture: string(i.Architecture),
		ImageSize:    float64(i.ImageSize),
		DiskSize:     float64(i.DiskSize),
		Protected:    i.Protection.Delete,
	}
}
