package hetznersim

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/talosgen/talosgen/internal/sorting"
)

// primaryIP is a public address that a server boots with, or that a load
// balancer has.
type primaryIP struct {
	common
	publicIP
	Location   string
	Of         ref  // whom it is assigned to; zero for nobody
	AutoDelete bool // it dies with whom it is assigned to
}

// publicIP is what primary and floating IPs have in common.
type publicIP struct {
	Type      string // "ipv4" or "ipv6"
	IP        string // of IPv6, the network of /64
	Pointers  []dnsPtr
	Protected bool
}

// dnsPtr is a reverse DNS entry.
type dnsPtr struct {
	IP     string `json:"ip"`
	DNSPtr string `json:"dns_ptr"`
}

const kindPrimaryIP = "primary_ip"

func (p *primaryIP) ref() ref { return ref{p.ID, kindPrimaryIP} }

// pointer is the reverse DNS of an address, or empty.
func (p *publicIP) pointer(ip string) string {
	for _, d := range p.Pointers {
		if d.IP == ip {
			return d.DNSPtr
		}
	}
	return ""
}

// firstPublicIPv4 begins the range for tests of networks (RFC 2544), which
// nobody on the internet has.
var firstPublicIPv4 = netip.MustParseAddr("198.18.0.1")

// newPublicIP is an address that nothing else has.
func (st *state) newPublicIP(kind string) publicIP {
	for {
		if ip := st.nextPublicIP(kind); !st.given(ip.IP) { // what was loaded may have it
			return ip
		}
	}
}

// given reports whether something has a public address.
func (st *state) given(ip string) bool {
	return slices.ContainsFunc(st.primaryIPs.rows, func(p *primaryIP) bool { return p.IP == ip }) ||
		slices.ContainsFunc(st.floatingIPs.rows, func(f *floatingIP) bool { return f.IP == ip })
}

func (st *state) nextPublicIP(kind string) publicIP {
	st.lastIP++
	n := st.lastIP
	if kind == "ipv6" {
		return publicIP{Type: kind, IP: fmt.Sprintf("2001:db8:%x:%x::/64", n>>16, n&0xffff)}
	}
	b := st.first.As4()
	b[2], b[3] = b[2]+byte(n/250), b[3]+byte(n%250)
	ip := netip.AddrFrom4(b).String()
	return publicIP{Type: kind, IP: ip, Pointers: []dnsPtr{{ip, defaultPointer(ip)}}}
}

// defaultPointer is the reverse DNS that an IPv4 address has at first.
func defaultPointer(ip string) string {
	parts := strings.Split(ip, ".")
	slices.Reverse(parts)
	return "static." + strings.Join(parts, ".") + ".clients.your-server.de"
}

// pointTo returns the reverse DNS entries with one changed; null resets it.
func (p *publicIP) pointTo(c *call) ([]dnsPtr, error) {
	in, err := decode[struct {
		IP  string  `json:"ip"`
		Ptr *string `json:"dns_ptr"`
	}](c)
	if err != nil {
		return nil, err
	}
	addr, err := netip.ParseAddr(in.IP)
	if err != nil || !p.holds(addr) {
		return nil, badField("ip", "IP %q does not belong to the resource.", in.IP)
	}
	if in.Ptr != nil && !hostname().MatchString(*in.Ptr) {
		return nil, badField("dns_ptr", badHostname)
	}
	left := keep(p.Pointers, func(d dnsPtr) bool { return d.IP != in.IP })
	switch {
	case in.Ptr != nil:
		left = with(left, dnsPtr{in.IP, *in.Ptr})
	case p.Type == "ipv4":
		left = with(left, dnsPtr{in.IP, defaultPointer(in.IP)})
	}
	sorting.By(left, func(a, b dnsPtr) int { return cmp.Compare(a.IP, b.IP) })
	return left, nil
}

func (p *publicIP) holds(a netip.Addr) bool {
	if whole, err := netip.ParsePrefix(p.IP); err == nil {
		return whole.Contains(a)
	}
	return p.IP == a.String()
}

type primaryIPView struct {
	ID         int64             `json:"id"`
	Name       string            `json:"name"`
	Labels     map[string]string `json:"labels"`
	Created    time.Time         `json:"created"`
	Blocked    bool              `json:"blocked"`
	Location   *location         `json:"location"`
	IP         string            `json:"ip"`
	DNSPtr     []dnsPtr          `json:"dns_ptr"`
	Protection protection        `json:"protection"`
	Type       string            `json:"type"`
	AutoDelete bool              `json:"auto_delete"`
	Assignee   string            `json:"assignee_type"`
	AssigneeID *int64            `json:"assignee_id"`
}

func (st *state) viewPrimary(p *primaryIP) primaryIPView {
	v := primaryIPView{ID: p.ID, Name: p.Name, Labels: filled(p.Labels), Created: p.Created,
		Location: st.cat.location(p.Location), IP: p.IP, DNSPtr: some(p.Pointers),
		Protection: protection{p.Protected}, Type: p.Type, AutoDelete: p.AutoDelete, Assignee: unassigned}
	if p.Of.ID != 0 {
		v.Assignee, v.AssigneeID = p.Of.Type, &p.Of.ID
	}
	return v
}

// unassigned is the assignee_type of a primary IP that nobody has, since
// 2026-08-01.
const unassigned = "unassigned"

// primaryFor is the primary IP for something in a location: the one of an ID,
// or a new one, which will die with whom it is assigned to, if id is 0.
func (c *call) primaryFor(of ref, location, kind string, id int64) (int64, error) {
	p := c.st.primaryIPs.get(id)
	switch {
	case id == 0:
		if err := c.within(c.cfg.Limits.PrimaryIPs, len(c.st.primaryIPs.rows), "Primary_IP"); err != nil {
			return 0, err
		}
		p = &primaryIP{common: c.fresh("", nil), publicIP: c.st.newPublicIP(kind), Location: location, AutoDelete: true}
		p.Name = fmt.Sprintf("primary_ip-%d", p.ID)
		c.st.primaryIPs.put(p)
	case p == nil:
		return 0, notFound(kindPrimaryIP, id)
	case p.Type != kind:
		return 0, fail("primary_ip_version_mismatch", "the specified Primary IP has the wrong IP version")
	case p.Of.ID != 0:
		return 0, fail("primary_ip_assigned", "the specified Primary IP is already assigned")
	case p.Location != location:
		return 0, fail("invalid_input", "the specified Primary IP is in location %s, not %s", p.Location, location)
	}
	c.st.primaryIPs.change(p.ID, func(p *primaryIP) { p.Of = of })
	return p.ID, nil
}

// releasePrimaries lets go of the primary IPs of something that is deleted.
func (st *state) releasePrimaries(of ref) {
	for _, p := range keep(st.primaryIPs.rows, func(p *primaryIP) bool { return p.Of == of }) {
		if p.AutoDelete {
			st.primaryIPs.drop(p.ID)
			continue
		}
		st.primaryIPs.change(p.ID, func(p *primaryIP) { p.Of = ref{} })
	}
}

func primaryIPRoutes() []route {
	const one = "/primary_ips/{id}"
	return []route{
		{http.MethodGet, "/primary_ips", listPrimaries},
		{http.MethodPost, "/primary_ips", createPrimary},
		{http.MethodGet, one, onPrimary(func(c *call, p *primaryIP) (reply, error) {
			return ok(obj{kindPrimaryIP: c.st.viewPrimary(p)})
		})},
		{http.MethodPut, one, onPrimary(updatePrimary)},
		{http.MethodDelete, one, onPrimary(deletePrimary)},
		{http.MethodPost, one + "/actions/assign", onPrimary(assignPrimary)},
		{http.MethodPost, one + "/actions/unassign", onPrimary(unassignPrimary)},
		{http.MethodPost, one + "/actions/change_dns_ptr", onPrimary(func(c *call, p *primaryIP) (reply, error) {
			return c.pointPrimary(p, p.ref())
		})},
		{http.MethodPost, one + "/actions/change_protection", onPrimary(protectPrimary)},
	}
}

func onPrimary(do func(*call, *primaryIP) (reply, error)) handler {
	return on(kindPrimaryIP, func(st *state) *table[primaryIP, *primaryIP] { return &st.primaryIPs }, do)
}
