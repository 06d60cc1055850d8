package preflight

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/internal/labelselector"
	"github.com/talosgen/talosgen/schemas"
)

const kubernetesPort = "6443"

// The APIs of nodes, as findings name them.
const (
	KubernetesAPI = "Kubernetes API"
	TalosAPI      = "Talos API"
)

// apis are the ports that apply has to reach.
var apis = []struct{ name, port string }{{KubernetesAPI, kubernetesPort}, {TalosAPI, "50000"}}

// access says whether whoever runs apply gets through the firewalls: by the
// session firewall, or because a rule lets them in; and whether anybody does
// once apply has ended.
func access(in *Input) []Finding {
	d := &in.Plan.Desired
	if d.Access.Mode == "private" && d.Access.Jump == "" {
		return []Finding{warning("run apply in that network, by a VPN or through a proxy; or enable network.natGateway in cluster.yaml",
			"nodes are reached at their addresses in the private network, and there is no gateway")}
	}
	if d.Access.CurrentIPv4 || d.Access.CurrentIPv6 {
		return append(session(in), ClosedToAll(d)...)
	}
	if d.Access.Mode != "public" || !filters(d) {
		return nil
	}
	if len(in.Own) == 0 {
		return []Finding{warning("", "your public address is not known: whether the firewall lets you in shows later")}
	}
	var found []Finding
	for _, api := range apis {
		for _, own := range in.Own {
			if letsIn(d, api.port, own) {
				found = append(found, fine("the firewall lets %s in to the %s", own, api.name))
				continue
			}
			found = append(found, warning("add it to the sources in cluster.yaml, or let current addresses in: hetzner.firewall",
				"no rule of the firewall lets %s in to the %s", own, api.name))
		}
	}
	return found
}

// Access is the check of who gets through the firewalls.
const Access = "access"

// ClosedToAll warns, in one finding at most, of APIs that no address reaches once
// apply has ended.
func ClosedToAll(d *schemas.Infrastructure) []Finding {
	closed := Closed(d)
	if len(closed) == 0 {
		return nil
	}
	f := warning("name the addresses that may use it in cluster.yaml, at hetzner.firewall.apiSource; then render, commit and apply",
		"once apply has ended, the firewall blocks the %s", strings.Join(closed, " and the "))
	f.Check = Access
	return []Finding{f}
}

// Closed names the APIs that no address reaches: Hetzner drops what no rule lets in,
// so neither kubectl nor talosctl would get through. Of a firewall that exists
// already the rules are not known, and nodes without public access have ways of
// their own.
func Closed(d *schemas.Infrastructure) (closed []string) {
	existing := func(f schemas.InfraFirewall) bool { return f.ExistingID != 0 }
	if d.Access.Mode != "public" || d.Access.Jump != "" || !filters(d) || slices.ContainsFunc(d.Firewalls, existing) {
		return nil
	}
	for _, api := range apis {
		if len(sources(d, api.port)) == 0 && !Balanced(d, api.port) {
			closed = append(closed, api.name)
		}
	}
	return closed
}

// Sources are the ranges from where rules let in to a TCP port of the control planes.
func Sources(d *schemas.Infrastructure, port string) []string {
	all := slices.Concat(sources(d, port)...)
	slices.Sort(all)
	return append([]string{}, slices.Compact(all)...)
}

// filters reports whether a firewall applies to anything.
func filters(d *schemas.Infrastructure) bool {
	return slices.ContainsFunc(d.Firewalls, func(f schemas.InfraFirewall) bool { return f.ApplyTo != "" || f.ExistingID != 0 })
}

// Balanced reports whether a public load balancer leads to a port: firewalls do
// not filter load balancers.
func Balanced(d *schemas.Infrastructure, port string) bool {
	return slices.ContainsFunc(d.LoadBalancers, func(lb schemas.InfraLoadBalancer) bool {
		return lb.PublicInterface && slices.ContainsFunc(lb.Services, func(s schemas.InfraService) bool {
			return strconv.Itoa(s.DestinationPort) == port
		})
	})
}

// session says whether the session firewall lets in whoever runs apply.
func session(in *Input) (found []Finding) {
	for _, own := range in.Own {
		if own.Is4() && in.Plan.Desired.Access.CurrentIPv4 || own.Is6() && in.Plan.Desired.Access.CurrentIPv6 {
			found = append(found, fine("%s is let in for as long as apply runs", own))
		}
	}
	if len(found) == 0 {
		found = byRules(in)
	}
	switch {
	case len(found) > 0:
	case len(in.Own) > 0 && in.Plan.Desired.Access.Jump == "":
		found = append(found, warning("name the sources in cluster.yaml, at hetzner.firewall.apiSource; or run apply where you have an address of that version",
			"your public address is %s, and the session firewall lets in the other IP version only: the run would stop once there are servers", in.Own[0]))
	default:
		found = append(found, warning("name the sources in cluster.yaml, or run apply where the address can be found", "your public address is not known, so no session firewall can let it in"))
	}
	return found
}

// byRules are the addresses of this machine that need no session: rules let them in
// to all APIs.
func byRules(in *Input) (found []Finding) {
	for _, own := range in.Own {
		if letsIn(&in.Plan.Desired, apis[0].port, own) && letsIn(&in.Plan.Desired, apis[1].port, own) {
			found = append(found, fine("the firewall lets %s in, without a session", own))
		}
	}
	return found
}

// letsIn reports whether a rule of a firewall of the control planes lets an
// address in to a TCP port.
func letsIn(d *schemas.Infrastructure, port string, own netip.Addr) bool {
	return slices.ContainsFunc(sources(d, port), func(ranges []string) bool { return contains(ranges, own) })
}

// sources are the ranges of every rule of a firewall of the control planes that
// lets somebody in to a TCP port.
func sources(d *schemas.Infrastructure, port string) (ranges [][]string) {
	labels := map[string]string{schemas.LabelCluster: d.Cluster, schemas.LabelManagedBy: schemas.ManagedBy, schemas.LabelRole: schemas.RoleControlPlane}
	for _, s := range d.Servers {
		if s.Role == schemas.RoleControlPlane {
			labels = s.Labels // however they write the role
		}
	}
	for _, f := range d.Firewalls {
		selector, err := labelselector.Parse(f.ApplyTo)
		if err != nil || !selector.Matches(labels) {
			continue
		}
		for _, r := range f.Rules {
			if admits(r, port) {
				ranges = append(ranges, r.SourceIPs)
			}
		}
	}
	return ranges
}

// admits reports whether a rule lets somebody in to a TCP port.
func admits(r schemas.InfraRule, port string) bool {
	return r.Direction == "in" && r.Protocol == "tcp" && opens(r.Port, port) && len(r.SourceIPs) > 0
}

// opens reports whether the port of a rule, which may be a range of ports, has a
// port in it.
func opens(rule, port string) bool {
	if rule == "any" {
		return true
	}
	first, last, isRange := strings.Cut(rule, "-")
	if !isRange {
		return rule == port
	}
	from, err1 := strconv.Atoi(first)
	to, err2 := strconv.Atoi(last)
	at, err3 := strconv.Atoi(port)
	return err1 == nil && err2 == nil && err3 == nil && from <= at && at <= to
}

func contains(ranges []string, own netip.Addr) bool {
	return slices.ContainsFunc(ranges, func(text string) bool {
		p, err := netip.ParsePrefix(text)
		a, single := netip.ParseAddr(text)
		return err == nil && p.Contains(own) || single == nil && a == own
	})
}
