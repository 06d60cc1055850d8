package infra

import (
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
		add("A", values, targets)
		add("AAAA", nil, r.withIPv6(targets))
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

// withIPv6 are the targets that have a public IPv6 address.
func (r recordResolver) withIPv6(targets []schemas.InfraTarget) []schemas.InfraTarget {
	var out []schemas.InfraTarget
	for _, t := range targets {
		if t.Kind == schemas.TargetLoadBalancer || t.Kind == schemas.TargetServer && r.c.Network.PublicIPv6 {
			out = append(out, t)
		}
	}
	return out
}
