package hetznersim

import (
	"slices"
	"time"
)

// joinBalancer reserves an interface of a load balancer in a network.
func (c *call) joinBalancer(id, network int64, asked, within string) error {
	b, n := c.st.balancers.get(id), c.st.networks.get(network)
	switch {
	case n == nil:
		return notFound(kindNetwork, network)
	case b.Net != nil:
		return fail("load_balancer_already_attached", "load balancer is already attached to a network")
	}
	if err := c.lock(n.ref()); err != nil {
		return err
	}
	ip, err := c.st.allocate(n, c.st.cat.zone(b.Location), asked, within)
	if err != nil {
		return err
	}
	c.st.balancers.change(id, func(b *balancer) {
		b.Net = &attachment{Network: network, IP: ip.String(), status: memberAttaching}
	})
	return nil
}

func attachBalancer(c *call, b *balancer) (reply, error) {
	in, err := decode[struct {
		Network int64  `json:"network"`
		IP      string `json:"ip"`
		Range   string `json:"ip_range"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if err := c.joinBalancer(b.ID, in.Network, in.IP, in.Range); err != nil {
		return reply{}, err
	}
	return c.acted(c.begin(job{
		command: "attach_to_network", on: []ref{b.ref(), {in.Network, kindNetwork}},
		finish: func(st *state, _ time.Time) {
			st.balancers.change(b.ID, func(b *balancer) { b.Net = b.Net.settled() })
		},
		undo: leaveBalancerNet(b.ID),
	}))
}

func leaveBalancerNet(id int64) effect {
	return func(st *state, _ time.Time) { st.balancers.change(id, func(b *balancer) { b.Net = nil }) }
}

// detachBalancer is refused while private targets or a disabled public
// interface need the network.
func detachBalancer(c *call, b *balancer) (reply, error) {
	in, err := decode[struct {
		Network int64 `json:"network"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	switch {
	case b.Net == nil || b.Net.Network != in.Network:
		return reply{}, fail("load_balancer_not_attached_to_network", "load balancer is not attached to network %d", in.Network)
	case b.Private || slices.ContainsFunc(b.Targets, lbTarget.private):
		return reply{}, fail("service_error", "load balancer needs the network for its targets or its only interface")
	}
	return c.acted(c.begin(job{command: "detach_from_network", on: []ref{b.ref(), {in.Network, kindNetwork}}, finish: leaveBalancerNet(b.ID)}))
}

func enablePublic(c *call, b *balancer) (reply, error) {
	return c.changeBalancer("enable_public_interface", b, func(b *balancer) { b.Private = false })
}

func disablePublic(c *call, b *balancer) (reply, error) {
	switch {
	case b.Net == nil:
		return reply{}, fail("load_balancer_not_attached_to_network", "load balancer is not attached to a network")
	case slices.ContainsFunc(b.Targets, func(t lbTarget) bool { return !t.private() }):
		return reply{}, fail("targets_without_use_private_ip", "load balancer has targets that use the public IP")
	}
	return c.changeBalancer("disable_public_interface", b, func(b *balancer) { b.Private = true })
}

func changeAlgorithm(c *call, b *balancer) (reply, error) {
	in, err := decode[struct {
		Type string `json:"type"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	var v invalid
	checkAlgorithm(&v, "type", in.Type)
	if err := v.err(); err != nil {
		return reply{}, err
	}
	return c.changeBalancer("change_algorithm", b, func(b *balancer) { b.Algorithm = in.Type })
}

func changeBalancerType(c *call, b *balancer) (reply, error) {
	in, err := decode[struct {
		Type idOrName `json:"load_balancer_type"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	t := c.st.cat.lbType(in.Type)
	if t == nil {
		return reply{}, badField("load_balancer_type", "load balancer type %q not found", in.Type)
	}
	if len(b.Services) > t.Services || len(b.Targets) > t.Targets {
		return reply{}, fail("invalid_load_balancer_type", "the load balancer has more services or targets than type %s allows", t.Name)
	}
	return c.changeBalancer("change_load_balancer_type", b, func(b *balancer) { b.Type = t.Name })
}

func pointBalancer(c *call, b *balancer) (reply, error) {
	for _, id := range []int64{b.IPv4, b.IPv6} {
		p := c.st.primaryIPs.get(id)
		if pointers, err := p.pointTo(c); err == nil {
			c.st.primaryIPs.change(id, func(p *primaryIP) { p.Pointers = pointers })
			return c.acted(c.done("change_dns_ptr", b.ref()))
		} else if id == b.IPv6 {
			return reply{}, err
		}
	}
	return reply{}, fail("service_error", "load balancer has no public address")
}
