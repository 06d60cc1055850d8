package hetznersim

import (
	"fmt"
	"regexp"
	"sync"
	"time"
)

type serverInput struct {
	Name      string            `json:"name"`
	Type      idOrName          `json:"server_type"`
	Image     idOrName          `json:"image"`
	Location  idOrName          `json:"location"`
	Start     *bool             `json:"start_after_create"`
	UserData  string            `json:"user_data"`
	Labels    map[string]string `json:"labels"`
	SSHKeys   []idOrName        `json:"ssh_keys"`
	Networks  []int64           `json:"networks"`
	Volumes   []int64           `json:"volumes"`
	Group     int64             `json:"placement_group"`
	Firewalls []struct {
		Firewall int64 `json:"firewall"`
	} `json:"firewalls"`
	PublicNet *struct {
		IPv4   *bool  `json:"enable_ipv4"`
		IPv6   *bool  `json:"enable_ipv6"`
		IPv4ID *int64 `json:"ipv4"`
		IPv6ID *int64 `json:"ipv6"`
	} `json:"public_net"`
}

// maxUserData is in bytes.
const maxUserData = 32768

// hostname is a name as RFC 1123 has it.
var hostname = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
})

const badHostname = "Must be a valid hostname as per RFC 1123."

func createServer(c *call) (reply, error) {
	in, err := decode[serverInput](c)
	if err != nil {
		return reply{}, err
	}
	s, err := c.newServer(in)
	if err != nil {
		return reply{}, err
	}
	if err := c.placeServer(s, in); err != nil {
		return reply{}, err
	}
	c.st.servers.put(s)
	if err := c.connectServer(s, in); err != nil {
		return reply{}, err
	}
	start := in.Start == nil || *in.Start
	first := c.begin(job{command: "create_server", on: []ref{s.ref()}, finish: serverCreated(s.ID, start), undo: dropServer(s.ID)})
	next := []*action{}
	if start {
		next = append(next, c.begin(job{command: "start_server", on: []ref{s.ref()}, after: first, finish: serverStarted(s.ID)}))
	}
	var password *string
	if len(in.SSHKeys) == 0 {
		text := fmt.Sprintf("simulated-password-%d", s.ID)
		password = &text
	}
	return created(obj{kindServer: c.st.viewServer(c.st.servers.get(s.ID)), "action": first.view(c.now),
		"next_actions": c.actions(next...), "root_password": password})
}

// newServer checks what a server must have, and makes it.
func (c *call) newServer(in serverInput) (*server, error) {
	var v invalid
	t := c.st.cat.serverType(in.Type)
	v.check(in.Type != "", "server_type", missing)
	v.check(in.Type == "" || t != nil, "server_type", "server type %q not found", in.Type)
	v.check(in.Image != "", "image", missing)
	v.check(in.Name == "" || hostname().MatchString(in.Name), "name", badHostname)
	v.check(len(in.UserData) <= maxUserData, "user_data", "Length must be between 0 and %d.", maxUserData)
	if err := named(&v, kindServer, &c.st.servers, in.Name, in.Labels); err != nil {
		return nil, err
	}
	if t.Deprecated != nil && c.now.After(t.Deprecated.UnavailableAfter) {
		return nil, fail("invalid_input", "server type %s is deprecated", t.Name)
	}
	i, err := c.st.imageFor(in.Image, t)
	if err != nil {
		return nil, err
	}
	if err := c.within(c.cfg.Limits.Servers, len(c.st.servers.rows), kindServer); err != nil {
		return nil, err
	}
	if err := c.withinCores(t, nil); err != nil {
		return nil, err
	}
	var keys []string
	for _, name := range in.SSHKeys {
		k := pick(&c.st.sshKeys, name)
		if k == nil {
			return nil, fail("not_found", "SSH key %q not found", name)
		}
		keys = append(keys, k.Key)
	}
	return &server{common: c.fresh(in.Name, in.Labels), Status: initializing, Type: t.Name,
		Image: i.ID, Disk: t.Disk, UserData: in.UserData, SSHKeys: keys, labelled: c.now}, nil
}

// imageFor finds the image of a server type: of those with a name, the one for
// its architecture.
func (st *state) imageFor(v idOrName, t *serverType) (*image, error) {
	id, _ := v.id()
	i := st.images.get(id)
	if i == nil {
		i = find(st.images.rows, func(i *image) bool { return i.Name == string(v) && i.Arch == t.Arch })
	}
	switch {
	case i == nil:
		return nil, fail("invalid_input", "image %q not found", v)
	case i.Arch != t.Arch:
		return nil, fail("invalid_input", "image architecture %s does not match server type architecture %s", i.Arch, t.Arch)
	case i.Status != "available":
		return nil, fail("invalid_input", "image %d is not available", i.ID)
	case i.Disk > t.Disk:
		return nil, fail("invalid_input", "image disk is bigger than server type disk")
	}
	return i, nil
}

// placeServer finds a location and room in the placement group.
func (c *call) placeServer(s *server, in serverInput) error {
	l := c.st.cat.pickLocation(in.Location)
	if l == nil {
		return fail("invalid_input", "location %q not found", in.Location)
	}
	if err := c.st.checkStock(l, c.st.cat.serverType(idOrName(s.Type))); err != nil {
		return err
	}
	s.Location = l.Name
	if in.Group == 0 {
		return nil
	}
	if err := c.st.roomIn(in.Group); err != nil {
		return err
	}
	s.Group = in.Group
	return nil
}

// connectServer gives a server its addresses, networks, firewalls and volumes.
func (c *call) connectServer(s *server, in serverInput) error {
	if err := c.publicAddresses(s.ID, in); err != nil {
		return err
	}
	for _, id := range in.Networks {
		if err := c.joinNetwork(s.ID, id, "", "", nil); err != nil {
			return err
		}
	}
	for _, f := range in.Firewalls {
		if err := c.st.applyFirewall(f.Firewall, s.ID); err != nil {
			return err
		}
	}
	for _, id := range in.Volumes {
		if err := c.st.plugVolume(id, s.ID); err != nil {
			return err
		}
	}
	return nil
}

// publicAddresses assigns the primary IPs that are asked for, or new ones that
// live and die with the server.
func (c *call) publicAddresses(id int64, in serverInput) error {
	want4, want6, id4, id6 := true, true, int64(0), int64(0)
	if p := in.PublicNet; p != nil {
		want4, want6 = p.IPv4 == nil || *p.IPv4, p.IPv6 == nil || *p.IPv6
		id4, id6 = deref(p.IPv4ID), deref(p.IPv6ID)
	}
	// One that is not started may get its network later: the Terraform provider
	// makes servers without public addresses that way.
	if start := in.Start == nil || *in.Start; start && !want4 && !want6 && len(in.Networks) == 0 {
		return fail("invalid_input", "server must have a public IP or a network")
	}
	for _, ip := range []struct {
		want bool
		kind string
		id   int64
	}{{want4, "ipv4", id4}, {want6, "ipv6", id6}} {
		if !ip.want {
			continue
		}
		s := c.st.servers.get(id)
		got, err := c.primaryFor(s.ref(), s.Location, ip.kind, ip.id)
		if err != nil {
			return err
		}
		c.st.servers.change(id, func(s *server) { s.setPrimary(ip.kind, got) })
	}
	return nil
}

func serverCreated(id int64, start bool) effect {
	return func(st *state, _ time.Time) {
		s := st.servers.change(id, func(s *server) {
			s.Status = off
			if start {
				s.Status = starting
			}
			for _, n := range s.Nets {
				s.Nets = s.netsWith(n.Network, func(a *attachment) { a.status = memberOK })
			}
		})
		if s != nil {
			st.note(MachineCreated, s)
		}
	}
}

func deref[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
