package scaffold

import (
	"errors"
	"net/netip"
	"strings"
)

// apiSource is the line of cluster.yaml that says who gets through the firewall.
func (o Options) apiSource() string {
	if len(o.APISource) == 0 {
		return `    # EDIT: from where kubectl and talosctl may be used, such as [203.0.113.7/32].
    # While it is empty, only apply has access.
    apiSource: []`
	}
	ranges := make([]string, len(o.APISource))
	for i, text := range o.APISource {
		p, _ := sourceRange(text)
		if ranges[i] = p.String(); p.Addr().Is6() {
			ranges[i] = "'" + ranges[i] + "'" // colons, and brackets around
		}
	}
	return "    # From where kubectl and talosctl may be used.\n" +
		"    apiSource: [" + strings.Join(ranges, ", ") + "]"
}

// sourceRange reads a range of addresses, or a single address.
func sourceRange(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err == nil && p != p.Masked() {
		return p, errors.New("it has bits set behind its length")
	}
	return p, err
}
