package infra

import (
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// targetIngress is a record's target, in cluster.yaml.
const (
	targetControlPlane = "controlPlane"
	targetIngress      = "ingress"
)

// zoneItself is the name of a record that is the zone itself.
const zoneItself = "@"

// recordName is the whole name of a record.
func recordName(r schemas.DNSRecord) string {
	if r.Name == zoneItself {
		return r.Zone
	}
	return r.Name + "." + r.Zone
}

// recordResolver resolves records of DNS.
type recordResolver struct{ *resolver }

// dns resolves the records in zones of Hetzner DNS: an A record with what has an
// IPv4 address, an AAAA record with what has an IPv6 address.
func (r recordResolver) dns() {
	for _, record := range r.c.Hetzner.DNS.Records {
		values, targets := r.destination(record.Target)
		add := func(kind string, values []string, targets []schemas.InfraTarget) {
			if len(values)+len(targets) > 0 {
				r.out.DNSRecords = append(r.out.DNSRecords, schemas.InfraDNSRecord{
					Zone: record.Zone, Name: record.Name, Type: kind, TTL: record.TTL, Values: values, Targets: targets,
				})
			}
		}
		add("A", values, r.with(targets, "A"))
		add("AAAA", nil, r.with(targets, "AAAA"))
	}
}

// destination is what a record leads to: private addresses that are known, or
// objects with public ones.
func (r recordResolver) destination(target string) (values []string, targets []schemas.InfraTarget) {
	switch target {
	case targetIngress:
		return r.ingressDestination()
	case targetControlPlane:
		if targets = apiResolver(r).controlPlaneTargets(); len(targets) == 0 || r.c.Access == "private" {
			return r.controlPlaneAddresses(), nil
		}
		return nil, targets
	}
	if targets = apiResolver(r).apiTargets(); len(targets) == 0 || r.c.Access == "private" {
		if host := hostOf(apiResolver(r).endpoint()); isAddress(host) {
			return []string{host}, nil
		}
		return r.controlPlaneAddresses(), nil
	}
	return nil, targets
}

// ingressDestination are the public load balancers of ingress pools, else the
// private ones, or the one that the service of the controller asks for.
func (r recordResolver) ingressDestination() (values []string, targets []schemas.InfraTarget) {
	pools := false
	for _, lb := range r.out.LoadBalancers {
		if lb.Labels[labelComponent] != ingress {
			continue
		}
		pools = true
		if lb.PublicInterface {
			targets = append(targets, schemas.InfraTarget{Kind: schemas.TargetLoadBalancer, Name: lb.Name})
		} else {
			values = append(values, lb.PrivateIP)
		}
	}
	switch {
	case !pools:
		return nil, []schemas.InfraTarget{{Kind: schemas.TargetLoadBalancer, Name: r.name(ingress), MadeByCluster: true}}
	case len(targets) > 0:
		return nil, targets
	}
	return values, nil
}

func (r recordResolver) controlPlaneAddresses() []string {
	var all []string
	for _, s := range r.controlPlanes() {
		all = append(all, s.PrivateIP)
	}
	return all
}

// with are the targets that have a public address for records of a type: what leads
// to a server that never gets one would be waited for with every apply.
func (r recordResolver) with(targets []schemas.InfraTarget, kind string) []schemas.InfraTarget {
	var out []schemas.InfraTarget
	for _, t := range targets {
		has := true // a load balancer has both
		switch t.Kind {
		case schemas.TargetServer:
			i := slices.IndexFunc(r.out.Servers, func(s schemas.InfraServer) bool { return s.Name == t.Name })
			has = kind == "A" && r.out.Servers[i].PublicIPv4 || kind == "AAAA" && r.out.Servers[i].PublicIPv6
		case schemas.TargetFloatingIP:
			has = kind == "A"
		}
		if has {
			out = append(out, t)
		}
	}
	return out
}
