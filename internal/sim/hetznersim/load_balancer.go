package hetznersim

import (
	"net/http"
	"strings"
	"time"
)

// balancer is a load balancer.
type balancer struct {
	common
	Type       string // the name of a load balancer type
	Location   string // the name of a location
	Algorithm  string
	Services   []service
	Targets    []lbTarget
	Net        *attachment // in a network; nil for none
	Private    bool        // the public interface is disabled
	IPv4, IPv6 int64       // primary IPs
	Protected  bool
}

const kindLoadBalancer = "load_balancer"

func (b *balancer) ref() ref { return ref{b.ID, kindLoadBalancer} }

type balancerView struct {
	ID              int64             `json:"id"`
	Name            string            `json:"name"`
	PublicNet       lbPublicNet       `json:"public_net"`
	PrivateNet      []lbPrivateNet    `json:"private_net"`
	Location        *location         `json:"location"`
	Type            lbTypeView        `json:"load_balancer_type"`
	Protection      protection        `json:"protection"`
	Labels          map[string]string `json:"labels"`
	Created         time.Time         `json:"created"`
	Services        []service         `json:"services"`
	Targets         []obj             `json:"targets"`
	Algorithm       obj               `json:"algorithm"`
	Outgoing        int64             `json:"outgoing_traffic"`
	Ingoing         int64             `json:"ingoing_traffic"`
	IncludedTraffic int64             `json:"included_traffic"`
}

type lbPublicNet struct {
	Enabled bool       `json:"enabled"`
	IPv4    lbPublicIP `json:"ipv4"`
	IPv6    lbPublicIP `json:"ipv6"`
}

// lbPublicIP is a public address of a load balancer: of IPv6, it is a single one.
type lbPublicIP struct {
	ID      int64  `json:"id,omitempty"`
	IP      string `json:"ip"`
	Blocked bool   `json:"blocked"`
	DNSPtr  string `json:"dns_ptr"`
}

type lbPrivateNet struct {
	Network int64  `json:"network"`
	IP      string `json:"ip"`
}

func (st *state) viewBalancer(b *balancer, now time.Time) balancerView {
	t := st.cat.lbType(idOrName(b.Type))
	v := balancerView{ID: b.ID, Name: b.Name, PrivateNet: []lbPrivateNet{}, Location: st.cat.location(b.Location),
		Type: viewLBType(t), Protection: protection{b.Protected}, Labels: filled(b.Labels), Created: b.Created,
		Services: some(b.Services), Targets: []obj{}, Algorithm: obj{"type": b.Algorithm}}
	v.PublicNet = lbPublicNet{!b.Private, st.lbAddress(b.IPv4), st.lbAddress(b.IPv6)}
	if b.Net != nil && b.Net.status != memberAttaching {
		v.PrivateNet = append(v.PrivateNet, lbPrivateNet{b.Net.Network, b.Net.IP})
	}
	for _, t := range b.Targets {
		v.Targets = append(v.Targets, st.viewTarget(b, t, now))
	}
	for _, p := range t.Prices {
		if p.Location == b.Location {
			v.IncludedTraffic = p.IncludedTraffic
		}
	}
	return v
}

// lbAddress shows a primary IP as a load balancer does: of a network of IPv6
// addresses, the first one.
func (st *state) lbAddress(id int64) lbPublicIP {
	p := st.primaryIPs.get(id)
	if p == nil {
		return lbPublicIP{}
	}
	ip := lbIP(p.IP)
	return lbPublicIP{ID: id, IP: ip, DNSPtr: p.pointer(ip)}
}

func lbIP(ip string) string {
	if network, found := strings.CutSuffix(ip, "/64"); found {
		return network + "1"
	}
	return ip
}

func balancerRoutes() []route {
	const one = "/load_balancers/{id}"
	const act = one + "/actions/"
	return []route{
		{http.MethodGet, "/load_balancers", listBalancers},
		{http.MethodPost, "/load_balancers", createBalancer},
		{http.MethodGet, one, onBalancer(func(c *call, b *balancer) (reply, error) { return c.balancer(b) })},
		{http.MethodPut, one, onBalancer(updateBalancer)},
		{http.MethodDelete, one, onBalancer(deleteBalancer)},
		{http.MethodPost, act + "add_service", unlocked(addService)},
		{http.MethodPost, act + "update_service", unlocked(updateService)},
		{http.MethodPost, act + "delete_service", unlocked(deleteService)},
		{http.MethodPost, act + "add_target", unlocked(addTarget)},
		{http.MethodPost, act + "remove_target", unlocked(removeTarget)},
		{http.MethodPost, act + "attach_to_network", unlocked(attachBalancer)},
		{http.MethodPost, act + "detach_from_network", unlocked(detachBalancer)},
		{http.MethodPost, act + "enable_public_interface", unlocked(enablePublic)},
		{http.MethodPost, act + "disable_public_interface", unlocked(disablePublic)},
		{http.MethodPost, act + "change_algorithm", unlocked(changeAlgorithm)},
		{http.MethodPost, act + "change_type", unlocked(changeBalancerType)},
		{http.MethodPost, act + "change_dns_ptr", unlocked(pointBalancer)},
		{http.MethodPost, act + "change_protection", onBalancer(protectBalancer)},
	}
}

func onBalancer(do func(*call, *balancer) (reply, error)) handler {
	return on(kindLoadBalancer, func(st *state) *table[balancer, *balancer] { return &st.balancers }, do)
}

// unlocked is a handler for a load balancer on which no action runs.
func unlocked(do func(*call, *balancer) (reply, error)) handler {
	return onBalancer(func(c *call, b *balancer) (reply, error) {
		if err := c.lock(b.ref()); err != nil {
			return reply{}, err
		}
		return do(c, b)
	})
}

func (c *call) balancer(b *balancer) (reply, error) {
	return ok(obj{kindLoadBalancer: c.st.viewBalancer(b, c.now)})
}

// changeBalancer begins an action that changes a load balancer when it ends.
func (c *call) changeBalancer(command string, b *balancer, change func(*balancer)) (reply, error) {
	return c.acted(c.begin(job{command: command, on: []ref{b.ref()}, finish: func(st *state, _ time.Time) {
		st.balancers.change(b.ID, change)
	}}))
}

func listBalancers(c *call) (reply, error) {
	return rowsOf("load_balancers", &c.st.balancers, func(b *balancer) any { return c.st.viewBalancer(b, c.now) }).answer(c)
}

func updateBalancer(c *call, b *balancer) (reply, error) {
	in, err := decode[update](c)
	if err != nil {
		return reply{}, err
	}
	if b, err = apply(in, kindLoadBalancer, &c.st.balancers, b); err != nil {
		return reply{}, err
	}
	return c.balancer(b)
}

// deleteBalancer is an action since 2026-10-05; before, it was done at once.
func deleteBalancer(c *call, b *balancer) (reply, error) {
	if b.Protected {
		return reply{}, isProtected(kindLoadBalancer)
	}
	if err := c.lock(b.ref()); err != nil {
		return reply{}, err
	}
	if c.cfg.OldLoadBalancerDelete {
		dropBalancer(b)(c.st, c.now)
		return noContent()
	}
	return c.acted(c.begin(job{command: "delete_load_balancer", on: []ref{b.ref()}, finish: dropBalancer(b)}))
}

func dropBalancer(b *balancer) effect {
	return func(st *state, _ time.Time) {
		st.releasePrimaries(b.ref())
		st.balancers.drop(b.ID)
	}
}

func protectBalancer(c *call, b *balancer) (reply, error) {
	protect, err := wantedProtection(c)
	if err != nil {
		return reply{}, err
	}
	c.st.balancers.change(b.ID, func(b *balancer) { b.Protected = protect })
	return c.acted(c.done("change_protection", b.ref()))
}
