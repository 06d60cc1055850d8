package hetznersim

import (
	"fmt"
	"time"
)

type balancerInput struct {
	Name      string   `json:"name"`
	Type      idOrName `json:"load_balancer_type"`
	Algorithm *struct {
		Type string `json:"type"`
	} `json:"algorithm"`
	Location  idOrName          `json:"location"`
	Zone      string            `json:"network_zone"`
	Labels    map[string]string `json:"labels"`
	Targets   []lbTarget        `json:"targets"`
	Services  []serviceInput    `json:"services"`
	Public    *bool             `json:"public_interface"`
	Network   int64             `json:"network"`
	PublicNet struct {
		IPv4 int64 `json:"ipv4"`
		IPv6 int64 `json:"ipv6"`
	} `json:"public_net"`
}

func createBalancer(c *call) (reply, error) {
	in, err := decode[balancerInput](c)
	if err != nil {
		return reply{}, err
	}
	b, err := c.newBalancer(in)
	if err != nil {
		return reply{}, err
	}
	c.st.balancers.put(b)
	if err := c.addressBalancer(b, in); err != nil {
		return reply{}, err
	}
	for i, s := range in.Services {
		made, err := s.complete(fmt.Sprintf("services.%d.", i))
		if err != nil {
			return reply{}, err
		}
		if err := c.putService(b.ID, made); err != nil {
			return reply{}, err
		}
	}
	for _, t := range in.Targets {
		if err := c.putTarget(b.ID, t); err != nil {
			return reply{}, err
		}
	}
	a := c.begin(job{command: "create_load_balancer", on: []ref{b.ref()}, undo: dropBalancer(b),
		finish: func(st *state, _ time.Time) {
			st.balancers.change(b.ID, func(b *balancer) { b.Net = b.Net.settled() })
		}})
	return created(obj{kindLoadBalancer: c.st.viewBalancer(c.st.balancers.get(b.ID), c.now), "action": a.view(c.now)})
}

// settled is an interface once its action has ended.
func (a *attachment) settled() *attachment {
	if a == nil {
		return nil
	}
	next := *a
	next.status = memberOK
	return &next
}

// newBalancer checks what a load balancer must have, and makes it.
func (c *call) newBalancer(in balancerInput) (*balancer, error) {
	var v invalid
	t := c.st.cat.lbType(in.Type)
	v.check(t != nil, "load_balancer_type", "load balancer type %q not found", in.Type)
	v.check((in.Location == "") != (in.Zone == ""), "location", "Either location or network_zone is required.")
	where := c.st.cat.pickLocation(in.Location)
	if in.Zone != "" {
		where = find(c.st.cat.locations, func(l *location) bool { return l.NetworkZone == in.Zone })
	}
	v.check(where != nil, "location", "location not found")
	algorithm := "round_robin"
	if in.Algorithm != nil {
		algorithm = in.Algorithm.Type
	}
	checkAlgorithm(&v, "algorithm.type", algorithm)
	if err := named(&v, kindLoadBalancer, &c.st.balancers, in.Name, in.Labels); err != nil {
		return nil, err
	}
	if err := c.within(c.cfg.Limits.LoadBalancers, len(c.st.balancers.rows), kindLoadBalancer); err != nil {
		return nil, err
	}
	return &balancer{common: c.fresh(in.Name, in.Labels), Type: t.Name, Location: where.Name, Algorithm: algorithm,
		Private: in.Public != nil && !*in.Public}, nil
}

func checkAlgorithm(v *invalid, field, algorithm string) {
	v.check(algorithm == "round_robin" || algorithm == "least_connections", field, "Must be one of: round_robin, least_connections.")
}

// addressBalancer gives a load balancer its public addresses and its network.
func (c *call) addressBalancer(b *balancer, in balancerInput) error {
	ip4, err := c.primaryFor(b.ref(), b.Location, "ipv4", in.PublicNet.IPv4)
	if err != nil {
		return err
	}
	ip6, err := c.primaryFor(b.ref(), b.Location, "ipv6", in.PublicNet.IPv6)
	if err != nil {
		return err
	}
	c.st.balancers.change(b.ID, func(b *balancer) { b.IPv4, b.IPv6 = ip4, ip6 })
	if in.Network == 0 {
		return nil // with its public interface off, nobody reaches it until it is in a network
	}
	return c.joinBalancer(b.ID, in.Network, "", "")
}
