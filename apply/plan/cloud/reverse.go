package cloud

import (
	"net/netip"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// ReverseName fills in what a template of a reverse DNS name leaves for when
// the object is there: {{ id }} and {{ ip-labels }}. The address may be a
// network: its first address counts, as for the name itself.
func ReverseName(template string, id int64, ip string) string {
	var b strings.Builder
	rest := template
	for {
		before, after, open := strings.Cut(rest, "{{")
		name, tail, closed := strings.Cut(after, "}}")
		if !open || !closed {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(before)
		switch strings.TrimSpace(name) {
		case "id":
			b.WriteString(idText(id))
		case "ip-labels":
			b.WriteString(ipLabels(ip))
		default:
			b.WriteString("{{" + name + "}}")
		}
		rest = tail
	}
}

// firstAddress is the address that an object answers at: of a network the
// first, ::1.
func firstAddress(ip string) netip.Addr {
	if p, err := netip.ParsePrefix(ip); err == nil {
		if p.IsSingleIP() {
			return p.Addr()
		}
		return p.Masked().Addr().Next()
	}
	a, err := netip.ParseAddr(ip)
	if err != nil {
		return netip.Addr{}
	}
	return a
}

// ReverseAddress is the address that a reverse DNS name is set for: of an IPv6
// network the first.
func ReverseAddress(ip string) string {
	if a := firstAddress(ip); a.IsValid() {
		return a.String()
	}
	return ip
}

// ipLabels writes an address as its reverse zone does: 4.3.2.1, or the digits
// of an IPv6 address from the last to the first.
func ipLabels(ip string) string {
	a := firstAddress(ip)
	if !a.IsValid() {
		return ip
	}
	sep, text := ".", a.String()
	parts := strings.Split(text, sep)
	if a.Is6() {
		parts = strings.Split(strings.ReplaceAll(a.StringExpanded(), ":", ""), "")
	}
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, sep)
}

// ReverseNameOf is the reverse DNS name that an address of a type should have, in
// one form; empty: the one that Hetzner gives it.
func ReverseNameOf(want schemas.InfraReverseDNS, ipType string, id int64, ip string) string {
	template := want.IPv4
	if ipType == ipv6 {
		template = want.IPv6
	}
	return canonicalName(ReverseName(template, id, ip))
}

// defaultSuffix ends the names that Hetzner gives addresses itself.
const defaultSuffix = ".clients.your-server.de"

// reverse compares the reverse DNS name of an address. Without a template it is
// the one that Hetzner gives it.
func (d *changeBuilder) reverse(ipType string, have PublicIP, want schemas.InfraReverseDNS) {
	if have.IP == "" {
		return
	}
	from, to := canonicalName(have.DNSPtr), ReverseNameOf(want, ipType, d.ID, have.IP)
	if to == "" && strings.HasSuffix(from, defaultSuffix) {
		return
	}
	if from != to {
		d.field(Field{Name: FieldReverseDNS, Item: ipType, from: from, to: to, Class: InPlace})
	}
}

// showReverse shows the templates of an object that is not there yet.
func (d *changeBuilder) showReverse(want schemas.InfraReverseDNS) {
	for _, r := range []struct{ ipType, template string }{{ipv4, want.IPv4}, {ipv6, want.IPv6}} {
		if r.template != "" {
			d.field(Field{Name: FieldReverseDNS, Item: r.ipType, to: r.template, Class: InPlace})
		}
	}
}

// canonicalName writes a name of DNS in one form.
func canonicalName(name string) string {
	return strings.ToLower(strings.TrimSuffix(name, "."))
}
