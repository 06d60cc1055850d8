package infra

import (
	"cmp"
	"regexp"

	"github.com/talosgen/talosgen/schemas"
)

// subject is what a reverse DNS name is about.
type subject struct {
	hostname, pool, role string
}

// placeholder is a part of a template that stands for something.
var placeholder = regexp.MustCompile(`\{\{ *([a-z-]+) *\}\}`)

// reverseDNS fills in the names of public addresses from the first template
// that says something: the object's own, those that it shares with others, the
// cluster's. What only the address tells is left as it is.
func (r *resolver) reverseDNS(of subject, ipv4, ipv6 bool, templates ...schemas.ReverseDNS) schemas.InfraReverseDNS {
	var out schemas.InfraReverseDNS
	for _, t := range append(templates, r.c.Hetzner.ReverseDNS) {
		if ipv4 && out.IPv4 == "" {
			out.IPv4 = r.expand(cmp.Or(t.IPv4, t.Name), of, "ipv4")
		}
		if ipv6 && out.IPv6 == "" {
			out.IPv6 = r.expand(cmp.Or(t.IPv6, t.Name), of, "ipv6")
		}
	}
	return out
}

func (r *resolver) expand(template string, of subject, ipType string) string {
	values := map[string]string{
		"cluster-name": r.c.ClusterName, "cluster-domain": r.c.Network.DNSDomain,
		"hostname": of.hostname, "pool": of.pool, "role": of.role, "ip-type": ipType,
	}
	return placeholder.ReplaceAllStringFunc(template, func(found string) string {
		name := placeholder.FindStringSubmatch(found)[1]
		if value, known := values[name]; known {
			return value
		}
		return "{{ " + name + " }}"
	})
}
