package hetznersim

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// server is a virtual machine.
type server struct {
	common
	Status     string
	Type       string // the name of a server type
	Location   string // the name of a location
	Image      int64  // 0 once it is deleted
	Disk       int    // in GB; it stays as it is when a type changes without its disk
	UserData   string
	IPv4, IPv6 int64 // primary IPs; 0 for none
	Nets       []attachment
	Group      int64 // placement group; 0 for none
	Protected  bool  // against deletion and rebuild
	Backups    string
	SSHKeys    []string // what its image was given
	RescueKeys []string
	ISO        int64 // in its drive; 0 for none
	Rescue     bool  // the next boot is one into the rescue system

	rescueUntil time.Time
	labelled    time.Time // when it got its labels
	boots       int
	bootsRescue bool // it runs the rescue system
	deaf        bool // its operating system does not hear of ACPI
}

// Statuses of a server.
const (
	initializing = "initializing"
	starting     = "starting"
	serverOn     = "running"
	stopping     = "stopping"
	off          = "off"
	deleting     = "deleting"
	rebuilding   = "rebuilding"
	migrating    = "migrating"
)

const kindServer = "server"

func (s *server) ref() ref { return ref{s.ID, kindServer} }

// setPrimary sets the primary IP of a version; 0 is none.
func (s *server) setPrimary(kind string, id int64) {
	if kind == "ipv4" {
		s.IPv4 = id
	} else {
		s.IPv6 = id
	}
}

// in returns the server's interface in a network, or nil.
func (s *server) in(network int64) *attachment {
	return find(pointers(s.Nets), func(a *attachment) bool { return a.Network == network })
}

func (s *server) netsWithout(network int64) []attachment {
	return keep(s.Nets, func(a attachment) bool { return a.Network != network })
}

// netsWith returns the interfaces with one changed.
func (s *server) netsWith(network int64, f func(*attachment)) []attachment {
	next := slices.Clone(s.Nets)
	for i := range next {
		if next[i].Network == network {
			f(&next[i])
		}
	}
	return next
}

// pointers are those to the elements of a list.
func pointers[E any](list []E) []*E {
	var out []*E
	for i := range list {
		out = append(out, &list[i])
	}
	return out
}

type serverView struct {
	ID              int64             `json:"id"`
	Name            string            `json:"name"`
	Status          string            `json:"status"`
	Created         time.Time         `json:"created"`
	PublicNet       publicNetView     `json:"public_net"`
	PrivateNet      []privateNetView  `json:"private_net"`
	ServerType      serverTypeView    `json:"server_type"`
	Location        *location         `json:"location"`
	Image           *imageView        `json:"image"`
	ISO             *iso              `json:"iso"`
	Rescue          bool              `json:"rescue_enabled"`
	Locked          bool              `json:"locked"`
	Backups         *string           `json:"backup_window"`
	Outgoing        int64             `json:"outgoing_traffic"`
	Ingoing         int64             `json:"ingoing_traffic"`
	IncludedTraffic int64             `json:"included_traffic"`
	Protection      serverProtection  `json:"protection"`
	Labels          map[string]string `json:"labels"`
	Volumes         []int64           `json:"volumes"`
	LoadBalancers   []int64           `json:"load_balancers"`
	Disk            int               `json:"primary_disk_size"`
	Group           any               `json:"placement_group"`
}

type serverProtection struct {
	Delete  bool `json:"delete"`
	Rebuild bool `json:"rebuild"`
}

type privateNetView struct {
	Network int64    `json:"network"`
	IP      string   `json:"ip"`
	Alias   []string `json:"alias_ips"`
	MAC     string   `json:"mac_address"`
}

type publicNetView struct {
	IPv4        *publicIPv4    `json:"ipv4"`
	IPv6        *publicIPv6    `json:"ipv6"`
	FloatingIPs []int64        `json:"floating_ips"`
	Firewalls   []firewallSeen `json:"firewalls"`
}

type publicIPv4 struct {
	ID      int64  `json:"id"`
	IP      string `json:"ip"`
	Blocked bool   `json:"blocked"`
	DNSPtr  string `json:"dns_ptr"`
}

type publicIPv6 struct {
	ID      int64    `json:"id"`
	IP      string   `json:"ip"`
	Blocked bool     `json:"blocked"`
	DNSPtr  []dnsPtr `json:"dns_ptr"`
}

// firewallSeen is a firewall as a server shows it.
type firewallSeen struct {
	ID     int64  `json:"id"`
	Status string `json:"status"`
}

func (st *state) viewServer(s *server) serverView {
	t := st.cat.serverType(idOrName(s.Type))
	v := serverView{ID: s.ID, Name: s.Name, Status: s.Status, Created: s.Created, PublicNet: st.viewPublicNet(s),
		PrivateNet: []privateNetView{}, ServerType: st.viewType(t), Location: st.cat.location(s.Location),
		Rescue: s.Rescue, Locked: st.busy(s.ref()), Protection: serverProtection{s.Protected, s.Protected},
		Labels: filled(s.Labels), Volumes: st.volumesOf(s.ID), LoadBalancers: st.balancersOf(s), Disk: s.Disk}
	for _, n := range s.Nets {
		if n.status != memberAttaching {
			v.PrivateNet = append(v.PrivateNet, privateNetView{n.Network, n.IP, some(n.Alias), n.MAC})
		}
	}
	for _, p := range t.Prices {
		if p.Location == s.Location {
			v.IncludedTraffic = p.IncludedTraffic
		}
	}
	if i := st.images.get(s.Image); i != nil {
		image := viewImage(i)
		v.Image = &image
	}
	v.ISO = st.cat.pickISO(idOrName(strconv.FormatInt(s.ISO, 10)))
	if s.Backups != "" {
		v.Backups = &s.Backups
	}
	if g := st.groups.get(s.Group); g != nil {
		v.Group = st.viewGroup(g)
	}
	return v
}

func (st *state) viewPublicNet(s *server) publicNetView {
	v := publicNetView{FloatingIPs: st.floatingOf(s.ID), Firewalls: st.firewallsOf(s)}
	if ip := st.primaryIPs.get(s.IPv4); ip != nil {
		v.IPv4 = &publicIPv4{ID: ip.ID, IP: ip.IP, DNSPtr: ip.pointer(ip.IP)}
	}
	if ip := st.primaryIPs.get(s.IPv6); ip != nil {
		v.IPv6 = &publicIPv6{ID: ip.ID, IP: ip.IP, DNSPtr: some(ip.Pointers)}
	}
	return v
}

func serverRoutes() []route {
	const one = "/servers/{id}"
	const act = one + "/actions/"
	return []route{
		{http.MethodGet, "/servers", listServers},
		{http.MethodPost, "/servers", createServer},
		{http.MethodGet, one, onServer(func(c *call, s *server) (reply, error) { return c.server(s) })},
		{http.MethodPut, one, onServer(updateServer)},
		{http.MethodDelete, one, onServer(deleteServer)},
		{http.MethodPost, act + "poweron", onServer(powerOn)},
		{http.MethodPost, act + "poweroff", onServer(powerOff)},
		{http.MethodPost, act + "shutdown", onServer(shutDown)},
		{http.MethodPost, act + "reboot", onServer(reboot("reboot_server"))},
		{http.MethodPost, act + "reset", onServer(reboot("reset_server"))},
		{http.MethodPost, act + "attach_to_network", onServer(attachServer)},
		{http.MethodPost, act + "detach_from_network", onServer(detachServer)},
		{http.MethodPost, act + "change_alias_ips", onServer(changeAliases)},
		{http.MethodPost, act + "change_protection", onServer(protectServer)},
	}
}

// onServer is a handler for a server that exists.
func onServer(do func(*call, *server) (reply, error)) handler {
	return on(kindServer, func(st *state) *table[server, *server] { return &st.servers }, do)
}

func (c *call) server(s *server) (reply, error) { return ok(obj{kindServer: c.st.viewServer(s)}) }

func listServers(c *call) (reply, error) {
	l := rowsOf("servers", &c.st.servers, func(s *server) any { return c.st.viewServer(s) })
	if wanted := c.query["status"]; len(wanted) > 0 {
		l = l.only(func(s *server) bool { return slices.Contains(wanted, s.Status) })
	}
	return l.answer(c)
}

func updateServer(c *call, s *server) (reply, error) {
	in, err := decode[update](c)
	if err != nil {
		return reply{}, err
	}
	if in.Name != nil && !hostname().MatchString(*in.Name) {
		return reply{}, badField("name", badHostname)
	}
	if s, err = apply(in, kindServer, &c.st.servers, s); err != nil {
		return reply{}, err
	}
	if in.Labels != nil {
		s = c.st.servers.change(s.ID, func(s *server) { s.labelled = c.now })
	}
	return c.server(s)
}

func protectServer(c *call, s *server) (reply, error) {
	in, err := decode[struct {
		Delete  *bool `json:"delete"`
		Rebuild *bool `json:"rebuild"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if in.Delete == nil || in.Rebuild == nil || *in.Delete != *in.Rebuild {
		return reply{}, badField("delete", "Must be equal to rebuild.")
	}
	c.st.servers.change(s.ID, func(s *server) { s.Protected = *in.Delete })
	return c.acted(c.done("change_protection", s.ref()))
}
