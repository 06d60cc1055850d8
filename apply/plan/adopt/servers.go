package adopt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// servers describes what servers have in common, and what is in front of them.
type servers struct{ *mapper }

func (m servers) describe() {
	m.option("hetzner.region", m.members[0].server.Location)
	m.option("hetzner.adopted.keep", true)
	if label := m.roleLabel(); label != schemas.RoleControlPlane {
		m.option("hetzner.adopted.roleLabel", label)
	}
	m.firewall()
	m.loadBalancer()
	m.protection()
	for i, key := range []string{"ipv4", "ipv6"} {
		m.reverse(i, key)
	}
	for _, f := range m.Project.FloatingIPs {
		if m.matched(f.Server) != nil || f.Labels[schemas.LabelCluster] == m.Cluster {
			m.note(fmt.Sprintf("floating IP %s is left as it is: what moves it is in the configurations of the nodes", f.Name))
		}
	}
	m.out.Module = m.module()
}

// firewall is the one that all nodes are behind. Its rules stay whose they are.
func (m servers) firewall() {
	first := m.members[0].server
	if first.PublicIPv4.IP == "" && first.PublicIPv6.IP == "" {
		return // there is nothing that one would filter
	}
	var common []cloud.Firewall
	for _, f := range m.Project.Firewalls {
		without := slices.ContainsFunc(m.members, func(n *member) bool {
			return !slices.ContainsFunc(n.server.Firewalls, func(a cloud.AppliedFirewall) bool { return a.ID == f.ID })
		})
		if !without && f.Labels[schemas.LabelComponent] != schemas.ComponentSession {
			common = append(common, f)
		}
	}
	if len(common) == 0 {
		m.refuse("the servers", "make a firewall that lets in what they serve, put it on all of them, and adopt again: one that talosgen made would close their other ports",
			"they have public addresses, and there is no firewall that all of them are behind")
		return
	}
	m.option("hetzner.firewall.existingId", common[0].ID)
	m.option("hetzner.firewall.applyTo", "servers")
	m.note(fmt.Sprintf("firewall %s keeps its rules and its labels; new servers get it", common[0].Name))
	for _, f := range common[1:] {
		m.note(fmt.Sprintf("firewall %s is left as it is: new servers do not get it", f.Name))
	}
}

// protection is the same for everything that the cluster has.
func (m servers) protection() {
	states := map[bool][]string{}
	add := func(on bool, name string) { states[on] = append(states[on], name) }
	for _, n := range m.members {
		add(n.server.DeleteProtect, "server "+n.server.Name)
		if n.server.DeleteProtect != n.server.RebuildProtect {
			m.refuse("server "+n.server.Name, "`hcloud server enable-protection NAME delete rebuild` turns on both", "it is protected against one of deletion and rebuilding only")
		}
	}
	if m.shared() == "" {
		add(m.net.Protected, "network "+m.net.Name)
	}
	if m.balancer != nil {
		add(m.balancer.Protected, "load balancer "+m.balancer.Name)
	}
	if len(states[true]) > 0 && len(states[false]) > 0 {
		m.refuse("the protection against deletion", "turn it on for all of them, or off: `hcloud server enable-protection NAME delete rebuild`, `hcloud network enable-protection NAME delete`",
			"it is on for %s, and off for %s", strings.Join(states[true], ", "), strings.Join(states[false], ", "))
	}
	m.option("deleteProtection", len(states[true]) > 0)
}

func (m servers) shared() string { return networks(m).shared() }

// usualName ends the reverse DNS names that Hetzner gives addresses itself.
const usualName = ".clients.your-server.de"

// reverse says which reverse DNS names the servers have, if they are made of the names of
// the servers.
func (m servers) reverse(i int, key string) {
	domain := ""
	for _, n := range m.members {
		ip := []cloud.PublicIP{n.server.PublicIPv4, n.server.PublicIPv6}[i]
		ptr := strings.ToLower(strings.TrimSuffix(ip.DNSPtr, "."))
		if ptr == "" || strings.HasSuffix(ptr, usualName) {
			continue
		}
		if rest, of := strings.CutPrefix(ptr, n.server.Name+"."); of {
			domain = rest
		}
	}
	if domain == "" {
		return
	}
	for p := range m.out.Pools {
		m.out.Pools[p].Options = append(m.out.Pools[p].Options, Option{"rdns." + key, "{{ hostname }}." + domain})
	}
}
