package preflight

import (
	"fmt"
	"slices"
	"strings"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

// Limits of Hetzner's resources, which nothing raises. From its documentation.
const (
	serversPerNetwork  = 100
	subnetsPerNetwork  = 50
	routesPerNetwork   = 100
	groupsPerProject   = 50
	serversPerGroup    = 10
	rulesPerFirewall   = 50
	rangesPerRule      = 100
	firewallsPerServer = 5
)

// limit is something that is counted.
type limit struct {
	what  string
	count int
	most  int
	hint  string
}

// limits counts what Hetzner counts. The autoscaler counts with all servers
// that it may make.
func limits(in *Input) (found []Finding) {
	for _, l := range slices.Concat(networkLimits(in), groupLimits(&in.Plan.Desired), firewallLimits(&in.Plan.Desired)) {
		if l.count > l.most {
			found = append(found, failed(l.hint, "%s: %d; Hetzner allows %d", l.what, l.count, l.most))
		}
	}
	return found
}

func networkLimits(in *Input) []limit {
	d := &in.Plan.Desired
	if d.Network == nil {
		return nil
	}
	n := len(d.Servers) + foreignMembers(in)
	for _, p := range d.AutoscalerPools {
		n += p.Max
	}
	return []limit{
		{"servers in the network, with all that the autoscaler may make", n, serversPerNetwork, "make the cluster smaller, or share the network with fewer others"},
		{"subnets of the network", len(d.Network.Subnets), subnetsPerNetwork, "let pools share subnets"},
		{"routes of the network", len(d.Network.Routes), routesPerNetwork, "join routes"},
	}
}

// foreignMembers are servers of others in the network, if it is not the
// cluster's own.
func foreignMembers(in *Input) (n int) {
	want := in.Plan.Desired.Network
	for _, net := range in.Plan.Observed.Networks {
		if !(want.ExistingID != 0 && net.ID == want.ExistingID || want.Existing && net.Name == want.Name) {
			continue
		}
		for _, id := range net.Servers {
			ours := func(s cloudplan.Server) bool { return s.ID == id && s.Labels[schemas.LabelCluster] == in.Plan.Cluster }
			if !slices.ContainsFunc(in.Plan.Observed.Servers, ours) {
				n++
			}
		}
	}
	return n
}

func groupLimits(d *schemas.Infrastructure) []limit {
	list := []limit{{"placement groups in the project", len(d.PlacementGroups), groupsPerProject, "use fewer pools with placement groups"}}
	for _, g := range d.PlacementGroups {
		n := 0
		for _, s := range d.Servers {
			if s.PlacementGroup == g.Name {
				n++
			}
		}
		list = append(list, limit{"servers in the placement group " + g.Name, n, serversPerGroup, "render again: groups are filled by ten"})
	}
	return list
}

func firewallLimits(d *schemas.Infrastructure) (list []limit) {
	for _, f := range d.Firewalls {
		list = append(list, limit{"rules of the firewall " + f.Name, len(f.Rules), rulesPerFirewall, "join rules"})
		for _, r := range f.Rules {
			list = append(list, limit{fmt.Sprintf("ranges of the rule %q", r.Description), len(r.SourceIPs) + len(r.DestinationIPs), rangesPerRule, "join ranges"})
		}
	}
	for _, s := range d.Servers {
		n := 1 // the session firewall
		for _, f := range d.Firewalls {
			if selector, err := labelselector.Parse(f.ApplyTo); err == nil && f.ApplyTo != "" && selector.Matches(s.Labels) {
				n++
			}
		}
		list = append(list, limit{"firewalls at the server " + s.Name + ", with that of a session", n, firewallsPerServer, "join firewalls"})
	}
	return list
}

// account says what the account has to allow: Hetzner tells its limits only to
// people.
func account(in *Input) []Finding {
	count := map[cloudplan.Kind]int{}
	cores, ipv4 := 0, 0
	for _, c := range in.Plan.Changes {
		if c.Action != cloudplan.Create {
			continue
		}
		count[c.Kind]++
		if c.Kind == cloudplan.KindServer && len(c.Candidates) > 0 {
			cores += coresOf(in, c.Candidates[0].Type)
		}
		if slices.ContainsFunc(c.Fields, func(f cloudplan.Field) bool { return f.Name == cloudplan.FieldPublicIPv4 }) {
			ipv4++
		}
	}
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(count[cloudplan.KindServer], "server", "servers")
	add(cores, "core", "cores")
	add(ipv4, "public IPv4 address", "public IPv4 addresses")
	add(count[cloudplan.KindLoadBalancer], "load balancer", "load balancers")
	add(count[cloudplan.KindFloatingIP], "floating IP", "floating IPs")
	add(count[cloudplan.KindNetwork], "network", "networks")
	if len(parts) == 0 {
		return nil
	}
	return []Finding{fine("more than now: %s; Hetzner's console shows the limits of the account, its API does not", strings.Join(parts, ", "))}
}

func coresOf(in *Input, name string) int {
	for _, t := range in.Plan.Observed.Catalogue.ServerTypes {
		if t.Name == name {
			return t.Cores
		}
	}
	return 0
}
