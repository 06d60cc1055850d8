package cloud

import (
	"maps"
	"net"
	"net/netip"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
)

func meta(id int64, name string, labels map[string]string, created time.Time) cloudplan.Meta {
	if len(labels) == 0 {
		labels = nil
	}
	return cloudplan.Meta{ID: id, Name: name, Labels: maps.Clone(labels), Created: created}
}

// address prints an address; "" for none.
func address(ip net.IP) string {
	if len(ip) == 0 || ip.IsUnspecified() {
		return ""
	}
	return ip.String()
}

func cidr(n *net.IPNet) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// parseCIDR is for what was validated when it was rendered.
func parseCIDR(s string) (*net.IPNet, error) {
	_, n, err := net.ParseCIDR(s)
	return n, err
}

// firstAddress returns the address of an IPv6 network by which a server is
// known, and which has its reverse DNS name: the one that ends in ::1.
func firstAddress(network string) string {
	p, err := netip.ParsePrefix(network)
	if err != nil {
		return ""
	}
	return p.Masked().Addr().Next().String()
}

func locationName(l *hcloud.Location) string {
	if l == nil {
		return ""
	}
	return l.Name
}

// convert applies f to each element.
func convert[T, U any](all []T, f func(T) U) []U {
	if len(all) == 0 {
		return nil
	}
	out := make([]U, len(all))
	for i, x := range all {
		out[i] = f(x)
	}
	return out
}

func addressesOf(ips []net.IP) []string { return convert(ips, address) }
