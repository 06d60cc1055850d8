package infra

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/render/internal/config"
	"github.com/talosgen/talosgen/schemas"
)

// SAN is a name or an address that the certificates of the Kubernetes API hold,
// with the place in the sources that it comes from. If nothing says so, its line
// is 0.
type SAN struct {
	Value string
	Pos   diag.Pos
}

// CertSANs lists what the certificates have to hold beside the names of the
// service and each node's own addresses, which Talos puts into them itself: the
// host of the endpoint first, then everything else that they are reached by. The
// names and addresses that people and nodes come by do not change while the
// cluster grows and shrinks, so that no living node gets a new certificate.
func CertSANs(c *config.Config, facts *config.Facts, api schemas.InfraAPI) []SAN {
	s := sans{c: c}
	s.add(hostOf(api.Endpoint), "endpoint", "hetzner.apiLoadBalancer.enabled", "nodes.controlPlane.privateVip", "nodes.controlPlane")
	s.add(c.Kubernetes.APIHostname, "kubernetes.apiHostname")
	if c.Hetzner.APILoadBalancer.Enabled {
		if address, err := c.Subnets().APILoadBalancer(); err == nil {
			s.add(address.String(), "hetzner.apiLoadBalancer.enabled")
		}
	}
	s.add(api.VirtualIP, "nodes.controlPlane.vip", "nodes.controlPlane.privateVip", "nodes.controlPlane")
	for i, record := range c.Hetzner.DNS.Records {
		if record.Target != targetIngress {
			s.add(recordName(record), "hetzner.dns.records."+strconv.Itoa(i)+".name")
		}
	}
	for i, own := range c.Talos.CertSANs {
		s.add(own, "talos.certSans."+strconv.Itoa(i))
	}
	s.facts(facts)
	return s.all
}

type sans struct {
	c   *config.Config
	all []SAN
}

// add adds a name once, at the first of the options that the file sets.
func (s *sans) add(value string, options ...string) {
	for _, option := range options {
		if s.c.Has(option) {
			s.addAt(value, s.c.Near(option))
			return
		}
	}
	s.addAt(value, s.c.Near(options[len(options)-1]))
}

func (s *sans) addAt(value string, pos diag.Pos) {
	if value != "" && !slices.ContainsFunc(s.all, func(other SAN) bool { return other.Value == value }) {
		s.all = append(s.all, SAN{value, pos})
	}
}

// facts adds the public addresses of what people reach the API by, at the
// options that there is such an object for.
func (s *sans) facts(facts *config.Facts) {
	if facts == nil {
		return
	}
	options := map[string]string{
		schemas.TargetLoadBalancer: "hetzner.apiLoadBalancer.enabled",
		schemas.TargetFloatingIP:   "nodes.controlPlane.floatingIp",
	}
	for _, f := range facts.Addresses {
		if option := options[f.Kind]; option != "" { // a server knows its addresses itself
			s.add(f.IPv4, option)
			s.add(f.IPv6, option)
		}
	}
}

func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "" // reported already
	}
	return u.Hostname()
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}
