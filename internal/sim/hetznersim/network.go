package hetznersim

import (
	"net/http"
	"net/netip"
	"time"
)

// network is a private network.
type network struct {
	common
	Range     netip.Prefix
	Subnets   []subnet
	Routes    []hop
	Protected bool
	Exposed   bool // its routes, to a vSwitch
}

// subnet is a part of a network, in one network zone.
type subnet struct {
	Type    string
	Range   netip.Prefix
	Zone    string
	VSwitch *int64
}

// hop is a route of a network.
type hop struct {
	Destination netip.Prefix `json:"destination"`
	Gateway     netip.Addr   `json:"gateway"`
}

const kindNetwork = "network"

func (n *network) ref() ref { return ref{n.ID, kindNetwork} }

// gateway is the first address of the network, in all of its subnets.
func (n *network) gateway() netip.Addr { return n.Range.Addr().Next() }

type networkView struct {
	ID            int64             `json:"id"`
	Name          string            `json:"name"`
	Range         netip.Prefix      `json:"ip_range"`
	Subnets       []subnetView      `json:"subnets"`
	Routes        []hop             `json:"routes"`
	Servers       []int64           `json:"servers"`
	LoadBalancers []int64           `json:"load_balancers"`
	Protection    protection        `json:"protection"`
	Labels        map[string]string `json:"labels"`
	Created       time.Time         `json:"created"`
	Exposed       bool              `json:"expose_routes_to_vswitch"`
}

type subnetView struct {
	Type    string       `json:"type"`
	Range   netip.Prefix `json:"ip_range"`
	Zone    string       `json:"network_zone"`
	Gateway netip.Addr   `json:"gateway"`
	VSwitch *int64       `json:"vswitch_id"`
}

// protection is against deletion.
type protection struct {
	Delete bool `json:"delete"`
}

func (st *state) viewNetwork(n *network) networkView {
	v := networkView{ID: n.ID, Name: n.Name, Range: n.Range, Subnets: []subnetView{}, Routes: some(n.Routes),
		Servers: []int64{}, LoadBalancers: []int64{}, Protection: protection{n.Protected},
		Labels: filled(n.Labels), Created: n.Created, Exposed: n.Exposed}
	for _, s := range n.Subnets {
		v.Subnets = append(v.Subnets, subnetView{s.Type, s.Range, s.Zone, n.gateway(), s.VSwitch})
	}
	for _, m := range st.members(n.ID) {
		if m.status == memberAttaching {
			continue
		}
		if m.of.Type == kindServer {
			v.Servers = append(v.Servers, m.of.ID)
		} else {
			v.LoadBalancers = append(v.LoadBalancers, m.of.ID)
		}
	}
	return v
}

func networkRoutes() []route {
	const one = "/networks/{id}"
	return []route{
		{http.MethodGet, "/networks", listNetworks},
		{http.MethodPost, "/networks", createNetwork},
		{http.MethodGet, one, onNetwork(func(c *call, n *network) (reply, error) { return c.network(n) })},
		{http.MethodPut, one, onNetwork(updateNetwork)},
		{http.MethodDelete, one, onNetwork(deleteNetwork)},
		{http.MethodGet, one + "/members", onNetwork(listMembers)},
		{http.MethodPost, one + "/actions/add_subnet", onNetwork(addSubnet)},
		{http.MethodPost, one + "/actions/delete_subnet", onNetwork(deleteSubnet)},
		{http.MethodPost, one + "/actions/add_route", onNetwork(addRoute)},
		{http.MethodPost, one + "/actions/delete_route", onNetwork(deleteRoute)},
		{http.MethodPost, one + "/actions/change_ip_range", onNetwork(changeRange)},
		{http.MethodPost, one + "/actions/change_protection", onNetwork(protectNetwork)},
	}
}

// onNetwork is a handler for a network that exists.
func onNetwork(do func(*call, *network) (reply, error)) handler {
	return on(kindNetwork, func(st *state) *table[network, *network] { return &st.networks }, do)
}

func (c *call) network(n *network) (reply, error) {
	return ok(obj{kindNetwork: c.st.viewNetwork(n)})
}

func listNetworks(c *call) (reply, error) {
	return rowsOf("networks", &c.st.networks, func(n *network) any { return c.st.viewNetwork(n) }).answer(c)
}

type networkInput struct {
	Name    string            `json:"name"`
	Range   string            `json:"ip_range"`
	Labels  map[string]string `json:"labels"`
	Subnets []subnetInput     `json:"subnets"`
	Routes  []routeInput      `json:"routes"`
	Exposed bool              `json:"expose_routes_to_vswitch"`
}

func createNetwork(c *call) (reply, error) {
	in, err := decode[networkInput](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	whole := privateRange(&v, "ip_range", in.Range)
	if err := named(&v, kindNetwork, &c.st.networks, in.Name, in.Labels); err != nil {
		return reply{}, err
	}
	if err := c.within(c.cfg.Limits.Networks, len(c.st.networks.rows), kindNetwork); err != nil {
		return reply{}, err
	}
	n := &network{common: c.fresh(in.Name, in.Labels), Range: whole, Exposed: in.Exposed}
	for _, s := range in.Subnets {
		if n, err = n.withSubnet(c.st.cat, s); err != nil {
			return reply{}, err
		}
		if err := c.st.coupled(n.ID, s); err != nil {
			return reply{}, err
		}
	}
	for _, r := range in.Routes {
		if n, err = n.withRoute(r); err != nil {
			return reply{}, err
		}
	}
	c.st.networks.put(n)
	return created(obj{kindNetwork: c.st.viewNetwork(n)})
}

func updateNetwork(c *call, n *network) (reply, error) {
	in, err := decode[struct {
		update
		Exposed *bool `json:"expose_routes_to_vswitch"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if n, err = apply(in.update, kindNetwork, &c.st.networks, n); err != nil {
		return reply{}, err
	}
	if in.Exposed != nil {
		n = c.st.networks.change(n.ID, func(n *network) { n.Exposed = *in.Exposed })
	}
	return c.network(n)
}

// deleteNetwork removes a network at once; whatever is attached is detached.
func deleteNetwork(c *call, n *network) (reply, error) {
	if n.Protected {
		return reply{}, isProtected(kindNetwork)
	}
	if err := c.lock(n.ref()); err != nil {
		return reply{}, err
	}
	c.st.leaveNetwork(n.ID)
	c.st.networks.drop(n.ID)
	return noContent()
}

func protectNetwork(c *call, n *network) (reply, error) {
	protect, err := wantedProtection(c)
	if err != nil {
		return reply{}, err
	}
	c.st.networks.change(n.ID, func(n *network) { n.Protected = protect })
	return c.acted(c.done("change_protection", n.ref()))
}
