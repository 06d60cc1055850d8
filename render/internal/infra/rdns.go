package infra

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// subject is what a reverse DNS name is about.
type subject struct {
	hostname, pool, role string
	at                   diag.Pos // of templates of its own
}

// placeholder is a part of a template that stands for something.
var placeholder = regexp.MustCompile(`\{\{ *([a-z-]+) *\}\}`)

// reverseDNS fills in the names of public addresses from the first template
// that says something: the object's own, those that it shares with others, the
// cluster's. What only the address tells is left as it is.
func (r *resolver) reverseDNS(of subject, ipv4, ipv6 bool, templates ...schemas.ReverseDNS) schemas.InfraReverseDNS {
	var out schemas.InfraReverseDNS
	for i, t := range append(templates, r.c.Hetzner.ReverseDNS) {
		if i == len(templates) {
			of.at = r.c.Near("hetzner.rdns")
		}
		if ipv4 && out.IPv4 == "" {
			out.IPv4 = r.reverseName(cmp.Or(t.IPv4, t.Name), of, "ipv4")
		}
		if ipv6 && out.IPv6 == "" {
			out.IPv6 = r.reverseName(cmp.Or(t.IPv6, t.Name), of, "ipv6")
		}
	}
	return out
}

// hostName is a DNS name. Its length counts without the dot at its end.
var hostName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?\.?$`)
})

const longestName = 253

// reverseName fills in a name, and refuses what is none: a placeholder that
// stands for nothing leaves an empty label.
func (r *resolver) reverseName(template string, of subject, ipType string) string {
	name := r.expand(template, of, ipType)
	if name == "" {
		return ""
	}
	// What only the address tells is one label, or a few short ones.
	sample := placeholder.ReplaceAllString(name, "1")
	if !hostName().MatchString(sample) || len(strings.TrimSuffix(sample, ".")) > longestName {
		hint := "labels have 1 to 63 letters, digits and inner hyphens; the name has 253 characters at most"
		if of.pool == "" && strings.Contains(template, "pool") {
			hint = "{{ pool }} stands for nothing there: " + of.hostname + " is of no pool"
		}
		r.problems.Add(diag.New(of.at, "the reverse DNS name of %s is no DNS name: %q", of.hostname, name).WithHint("%s", hint))
	}
	return name
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
