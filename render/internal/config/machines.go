package config

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strconv"
)

// staticNodes makes the nodes that a pool lists: of a static environment, or dedicated
// servers.
func (ch resolver) staticNodes(p pool, taints []Taint) {
	for i, s := range p.Nodes {
		path := sub(sub(p.path, "nodes"), strconv.Itoa(i))
		address, _ := netip.ParsePrefix(s.Address) // the zero value if absent, or reported already
		boot, _ := netip.ParseAddr(s.BootAddress)
		gateway, _ := netip.ParseAddr(s.Gateway)
		if !boot.IsValid() && !ch.has(append(path, "bootAddress")...) {
			boot = address.Addr()
		}
		disk := ch.installDisk("", installDisk{s.InstallDisk, s.DiskSelector}, p.disk())
		ch.nodes = append(ch.nodes, Node{
			Name:        s.Name,
			Role:        p.role,
			Pool:        p.name,
			Labels:      merge(p.Labels, s.Labels),
			Annotations: merge(p.Annotations, s.Annotations),
			Taints:      mergeTaints(taints, ch.taints(s.Taints, path)),
			InstallDisk: disk.path, DiskSelector: disk.selector,

			image:       addImage(p.NodeImage, s.NodeImage),
			Match:       s.Match,
			BootAddress: boot,
			Address:     address,
			Gateway:     gateway,
			Interface:   s.Interface,
			VLAN:        s.VLANID,
			MTU:         s.MTU,
			Routes:      s.Routes,
			Platform:    cmp.Or(s.Platform, p.Platform, staticPlatform),
			SecureBoot:  secureBoot(p.Boot, s.Boot),
			Overlay:     overlay(p, s),
			Dedicated:   p.dedicated,
			Index:       s.Index,
			Offset:      p.offset(),
			PrivateIP:   dedicatedAddress(s),
			Pinned:      dedicatedAddress(s).IsValid(),
			RobotServer: s.RobotServer,

			config: ch.Config,
			paths:  [][]string{path, p.path},
		})
	}
}

// merge adds a node's own entries to those of its pool.
func merge(pool, node map[string]string) map[string]string {
	if len(node) == 0 {
		return pool
	}
	all := maps.Clone(pool)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, node)
	return all
}

// mergeTaints adds a node's own taints to those of its pool with other keys.
func mergeTaints(pool, node []Taint) []Taint {
	var all []Taint
	for _, t := range pool {
		if !slices.ContainsFunc(node, func(own Taint) bool { return own.Key == t.Key }) {
			all = append(all, t)
		}
	}
	return append(all, node...)
}
