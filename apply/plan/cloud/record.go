package cloud

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// records plans sets of DNS records.
type records struct{ *planner }

// RecordName is how a set of DNS records is called in a plan.
func RecordName(r schemas.InfraDNSRecord) string { return recordName(r.Name, r.Zone, r.Type) }

func recordName(name, zone, kind string) string {
	if name == "@" {
		return zone + "/" + kind
	}
	return name + "." + zone + "/" + kind
}

// compare compares sets of DNS records. Their zones exist already.
func (p *records) compare() {
	wanted := map[string]bool{}
	for _, r := range p.desired.DNSRecords {
		wanted[RecordName(r)] = true
		p.compareSet(r)
	}
	for _, z := range p.observed.Zones {
		for _, set := range z.RRSets {
			name := recordName(set.Name, z.Name, set.Type)
			if wanted[name] || !p.owner.owns(set.Labels) {
				continue
			}
			d := buildChange(KindRRSet, name, 0, Delete)
			d.Destructive, d.LiftProtection, d.Reason = true, set.Protected, unwanted
			p.add(d)
		}
	}
}

func (p *records) compareSet(want schemas.InfraDNSRecord) {
	key := KeyOf(KindRRSet, RecordName(want))
	zone := slices.IndexFunc(p.observed.Zones, func(z Zone) bool { return z.Name == want.Zone })
	if zone < 0 {
		p.refusal(key, fmt.Sprintf("there is no DNS zone %s in the project", want.Zone), "make the zone at Hetzner, or correct the name in cluster.yaml")
		return
	}
	values, late := p.values(want)
	z := p.observed.Zones[zone]
	i := slices.IndexFunc(z.RRSets, func(s RRSet) bool { return s.Name == want.Name && s.Type == want.Type })
	switch {
	case i < 0 && len(values) == 0 && len(late) == 0:
		p.warn(key, "it is not made: "+p.unknownAddress(want), "it is made by the first apply after there is an address")
	case i < 0:
		d := buildChange(KindRRSet, RecordName(want), 0, Create)
		d.Reason = missing
		d.show(FieldTTL, strconv.Itoa(want.TTL))
		d.show(FieldValues, valuesText(values, late))
		d.needs(late...)
		p.add(d)
	default:
		p.updateRecord(want, &z, &z.RRSets[i], values, late)
	}
}

func (p *records) unknownAddress(want schemas.InfraDNSRecord) string {
	names := make([]string, len(want.Targets))
	for i, t := range want.Targets {
		names[i] = string(targetKey(t))
	}
	return fmt.Sprintf("there is no address for it from %s", strings.Join(names, ", "))
}

func (p *records) updateRecord(want schemas.InfraDNSRecord, zone *Zone, have *RRSet, values []string, late []plan.Key) {
	d := buildChange(KindRRSet, RecordName(want), 0, Update)
	if !p.owner.owns(have.Labels) && !plan.Named(p.policy.Adopt, d.Key, d.Name) {
		p.refusal(d.Key, "there are such records already, and they are not the cluster's: "+strings.Join(have.Values, ", "),
			fmt.Sprintf("remove them, or take them over with --adopt %s", d.Key))
		return
	}
	if from := effectiveTTL(have.TTL, zone.TTL); from != want.TTL {
		d.differ(FieldTTL, strconv.Itoa(from), strconv.Itoa(want.TTL), "")
	}
	// A record whose addresses are all gone is left until there is one again:
	// to be unreachable is no better than to lead to the old place.
	if len(values)+len(late) == 0 {
		p.warn(d.Key, p.unknownAddress(want)+": it still leads to "+strings.Join(have.Values, ", "), "it changes with the first apply after there is an address")
	} else {
		d.differ(FieldValues, valuesText(canonicalAddresses(have.Values), nil), valuesText(values, late), "")
		d.needs(late...)
	}
	d.labels(have.Labels, RecordLabels(p.desired.Cluster))
	p.add(d)
}

func effectiveTTL(own, zone int) int {
	if own == 0 {
		return zone
	}
	return own
}

func valuesText(values []string, late []plan.Key) string {
	texts := slices.Clone(values)
	for _, key := range late {
		texts = append(texts, fmt.Sprintf("(address of %s)", key))
	}
	return strings.Join(texts, ", ")
}

// values are the addresses that a record should have, and the keys of changes
// that it takes to know the others.
func (p *records) values(want schemas.InfraDNSRecord) (values []string, late []plan.Key) {
	late = p.lateTargets(want)
	known := want
	known.Targets = slices.DeleteFunc(slices.Clone(want.Targets), func(t schemas.InfraTarget) bool { return slices.Contains(late, targetKey(t)) })
	return RecordValues(known, p.observed), late
}

// lateTargets are the keys of changes that give targets an address, or another
// one.
func (p *records) lateTargets(want schemas.InfraDNSRecord) (keys []plan.Key) {
	for _, t := range want.Targets {
		key := targetKey(t)
		for _, c := range p.plan.Changes {
			if c.Key == key && (c.Action == Replace || p.willHave(t, want.Type) && c.bringsAddress(want.Type)) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// bringsAddress reports whether an object that should have a public address gets
// it by a change.
func (c *Change) bringsAddress(recordType string) bool {
	name := FieldPublicIPv4
	if recordType == "AAAA" {
		name = FieldPublicIPv6
	}
	return c.Action == Create || c.Action == Update && (c.changes(name) || c.changes(FieldPublic))
}

// willHave reports whether a target should have an address of the type of a
// record.
func (p *records) willHave(t schemas.InfraTarget, recordType string) bool {
	switch t.Kind {
	case schemas.TargetServer:
		i := slices.IndexFunc(p.desired.Servers, func(s schemas.InfraServer) bool { return s.Name == t.Name })
		return i >= 0 && (recordType == "A" && p.desired.Servers[i].PublicIPv4 || recordType == "AAAA" && p.desired.Servers[i].PublicIPv6)
	case schemas.TargetFloatingIP:
		i := slices.IndexFunc(p.desired.FloatingIPs, func(f schemas.InfraFloatingIP) bool { return f.Name == t.Name })
		return i >= 0 && p.desired.FloatingIPs[i].Type == addressType(recordType)
	default:
		i := slices.IndexFunc(p.desired.LoadBalancers, func(b schemas.InfraLoadBalancer) bool { return b.Name == t.Name })
		return i >= 0 && p.desired.LoadBalancers[i].PublicInterface
	}
}

func addressType(recordType string) string {
	if recordType == "AAAA" {
		return ipv6
	}
	return ipv4
}

func targetKey(t schemas.InfraTarget) plan.Key {
	kind := map[string]Kind{
		schemas.TargetServer: KindServer, schemas.TargetFloatingIP: KindFloatingIP, schemas.TargetLoadBalancer: KindLoadBalancer,
	}[t.Kind]
	return KeyOf(kind, nameOf(Meta{ID: t.ID, Name: t.Name}))
}

// RecordValues are the addresses that a set of DNS records should have, as far
// as its targets are there: sorted, in one form.
func RecordValues(want schemas.InfraDNSRecord, observed *Observed) []string {
	values := slices.Clone(want.Values)
	for _, t := range want.Targets {
		v4, v6 := publicAddresses(t, observed)
		ip := v4
		if addressType(want.Type) == ipv6 {
			ip = v6
		}
		if ip != "" {
			values = append(values, ReverseAddress(ip))
		}
	}
	return canonicalAddresses(values)
}

// publicAddresses are the public addresses of a target, empty where it has
// none.
func publicAddresses(t schemas.InfraTarget, observed *Observed) (v4, v6 string) {
	switch t.Kind {
	case schemas.TargetServer:
		for _, s := range observed.Servers {
			if s.is(t) {
				return s.PublicIPv4.IP, s.PublicIPv6.IP
			}
		}
	case schemas.TargetFloatingIP:
		for _, f := range observed.FloatingIPs {
			if f.is(t) {
				if f.Type == ipv6 {
					return "", f.IP
				}
				return f.IP, ""
			}
		}
	case schemas.TargetLoadBalancer:
		for _, b := range observed.LoadBalancers {
			if b.is(t) && b.PublicInterface {
				return b.PublicIPv4.IP, b.PublicIPv6.IP
			}
		}
	}
	return "", ""
}

// is reports whether an object is a target: by its id, if the target has one.
func (m Meta) is(t schemas.InfraTarget) bool {
	return t.ID != 0 && m.ID == t.ID || t.ID == 0 && m.Name == t.Name
}

// canonicalAddresses sorts addresses and writes equal ones in one form.
func canonicalAddresses(values []string) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v
		if a, err := netip.ParseAddr(v); err == nil {
			texts[i] = a.String()
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
