package cloud

import (
	"fmt"
	"slices"
	"time"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// Answer is whether a NAT gateway has proven itself: it was connected to, and has shown
// its SSH host key.
type Answer struct {
	Server int64 `yaml:"server"`
	Proven bool  `yaml:"proven,omitempty"`
	// Why it has not, if it has not.
	Why string `yaml:"why,omitempty"`
}

// answersWithin is how long a new gateway may take to start before its silence says that
// it is ill.
const answersWithin = 10 * time.Minute

// gateways chooses to which of two gateways a route leads. It stays with the one that it
// leads to until that one is ill and the other one is well: to be the first is no reason
// to move it back.
type gateways struct{ *planner }

// gateway is one of the gateways that a route may lead to.
type gateway struct {
	address string
	server  string // its name; empty: none has the address
	ill     string // why nothing gets out through it; empty: it is not known to be ill
	well    bool   // something does, as far as can be told
	starts  bool   // it is off, and this plan switches it on
	off     string // for what this plan switches it off for a while; empty: it does not
}

// givesWayTo reports whether a route is led from a gateway to the other one: if it is ill and
// the other one is well, or before it is switched off, if the other one is well or is so when
// the plan is done with it.
func (g gateway) givesWayTo(other gateway) bool {
	if g.ill != "" {
		return other.well
	}
	return g.off != "" && (other.well || other.starts)
}

// choose has each route lead to the gateway that it should lead to now. The other one of
// the two stands by.
func (p *gateways) choose() {
	if p.want == nil || !slices.ContainsFunc(p.want.Routes, func(r schemas.InfraRoute) bool { return r.Standby != "" }) {
		return
	}
	own := *p.want
	own.Routes = slices.Clone(own.Routes)
	p.desired.Network, p.want = &own, &own
	for i := range own.Routes {
		r := &own.Routes[i]
		if r.Standby != "" && p.moves(*r) {
			r.Gateway, r.Standby = r.Standby, r.Gateway
		}
	}
}

// moves reports whether a route is to lead to its standby.
func (p *gateways) moves(r schemas.InfraRoute) bool {
	first, second := p.gateway(r.Gateway, r.Standby), p.gateway(r.Standby, r.Gateway)
	if have := p.route(r.Destination); have != nil && have.Gateway == r.Standby {
		return !second.givesWayTo(first)
	}
	return first.givesWayTo(second)
}

// lead says why a route is led to another gateway, and what this was decided from. Before
// its gateway is switched off, the plan is first done with the other one.
func (p *gateways) lead(d *changeBuilder, r schemas.InfraRoute, from string) {
	why := ""
	if r.Standby != "" {
		to, left := p.gateway(r.Gateway, r.Standby), p.gateway(r.Standby, r.Gateway)
		for _, g := range []gateway{to, left} {
			if g.server != "" {
				d.relies = append(d.relies, KeyOf(KindServer, g.server))
			}
		}
		switch {
		case left.address != from:
		case left.ill != "":
			why = left.server + " " + left.ill
		case left.off != "":
			why = left.server + " is switched off to change its " + left.off
			d.sake = KeyOf(KindServer, left.server)
			d.needs(KeyOf(KindServer, to.server))
		}
	}
	d.differ(FieldGateway, from, r.Gateway, why)
}

// gateway is the gateway with an address, beside the other one. That it does not answer
// says something only if the other one does: else the way to both may be at fault.
func (p *gateways) gateway(address, other string) gateway {
	g := gateway{address: address}
	have := p.gatewayServer(&g)
	switch {
	case g.server == "":
		g.ill = "has no server"
	case have == nil:
		g.ill = "is not there"
	case have.Status == statusDeleting:
		g.ill = "is being deleted"
	case have.Status == statusRebuilding:
		g.ill = "is being rebuilt"
	case have.Status == statusOff, have.Status == statusStopping:
		g.ill, g.starts = "is "+have.Status, p.hasAddress(*have, address)
	case plan.Named(p.policy.Replace, KeyOf(KindServer, g.server), g.server):
		g.ill = "is made again"
	case !p.hasAddress(*have, address):
		g.ill = "is not in the network"
	case have.Status != statusRunning: // it starts, or is moved to another host
	default:
		why, silent := p.silent(have)
		if beside := p.gatewayServer(&gateway{address: other}); silent && beside != nil && p.proven(beside) {
			g.ill = fmt.Sprintf("does not answer by SSH, and %s does: %s", beside.Name, why)
		}
		g.well = !silent
	}
	if want := p.desiredServer(g.server); want != nil && have != nil {
		g.off = p.switchedOffFor(*want, have)
	}
	return g
}

// desiredServer is a server of the tree; nil if it has none of that name.
func (p *gateways) desiredServer(name string) *schemas.InfraServer {
	i := slices.IndexFunc(p.desired.Servers, func(s schemas.InfraServer) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &p.desired.Servers[i]
}

// gatewayServer is the server that a gateway is, if it is there, and names it.
func (p *gateways) gatewayServer(g *gateway) *Server {
	for _, want := range p.desired.Servers {
		if node(want) || want.PrivateIP != g.address {
			continue
		}
		g.server = want.Name
		for i := range p.observed.Servers {
			if s := &p.observed.Servers[i]; s.Name == want.Name && p.owner.servers[s.ID] {
				return s
			}
		}
	}
	return nil
}

// silent reports whether a gateway was asked and did not prove itself, and why. One that
// was made just now may be starting.
func (p *gateways) silent(s *Server) (why string, silent bool) {
	i := slices.IndexFunc(p.observed.Answers, func(a Answer) bool { return a.Server == s.ID })
	if i < 0 || p.observed.Answers[i].Proven || p.observed.Time.Sub(s.Created) < answersWithin {
		return "", false
	}
	return p.observed.Answers[i].Why, true
}

// proven reports whether a gateway has proven itself.
func (p *gateways) proven(s *Server) bool {
	return s.Status == statusRunning && slices.Contains(p.observed.Answers, Answer{Server: s.ID, Proven: true})
}
