package cloud

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/talosgen/talosgen/schemas"
)

// balancers plans load balancers.
type balancers struct{ *planner }

// compare compares load balancers.
func (p *balancers) compare() {
	for _, want := range p.desired.LoadBalancers {
		have, blocked := claim(p.planner, KindLoadBalancer, want.Name, p.observed.LoadBalancers)
		switch {
		case blocked:
		case have == nil:
			p.createBalancer(want, buildChange(KindLoadBalancer, want.Name, 0, Create))
		case have.Location != want.Location:
			d := buildChange(KindLoadBalancer, want.Name, have.ID, Replace)
			d.Destructive, d.LiftProtection = true, have.Protected
			d.field(Field{Name: FieldLocation, from: have.Location, to: want.Location, Class: Replacement,
				Reason: "a load balancer cannot move; its public addresses are lost"})
			p.createBalancer(want, d)
		default:
			p.updateBalancer(want, have)
		}
	}
	stale(p.planner, KindLoadBalancer, p.observed.LoadBalancers, func(b *LoadBalancer) {
		d := buildChange(KindLoadBalancer, b.Name, b.ID, Delete)
		d.Destructive, d.LiftProtection, d.Reason = true, b.Protected, unwanted
		p.add(d)
	})
}

func (p *balancers) createBalancer(want schemas.InfraLoadBalancer, d *changeBuilder) {
	if d.Action == Create {
		d.Reason = missing
		d.show(FieldLocation, want.Location)
	}
	p.balancerType(d, want)
	d.show(FieldType, want.Type)
	d.show(FieldAlgorithm, want.Algorithm)
	d.show(FieldPrivateIP, want.PrivateIP)
	d.show(FieldPublic, onOff(want.PublicInterface))
	for _, s := range want.Services {
		d.field(Field{Name: FieldServices, Item: Service{InfraService: s}.Item(), to: serviceText(Service{InfraService: s}), Class: InPlace})
	}
	for _, t := range WantedTargets(want) {
		d.field(Field{Name: FieldTargets, Item: t.Item(), to: t.reach(), Class: InPlace})
	}
	d.showReverse(want.ReverseDNS)
	if want.Protected {
		d.show(FieldProtected, "on")
	}
	p.balancerNeeds(d, want)
	p.add(d)
}

// balancerNeeds lets a load balancer wait for its place in the network.
func (p *balancers) balancerNeeds(d *changeBuilder, want schemas.InfraLoadBalancer) {
	d.needs(p.networkKey(), p.subnetFor(want.PrivateIP))
	p.targetNeeds(d, want)
	for _, b := range p.observed.LoadBalancers {
		if b.Name != want.Name && p.balancerAddress(&b) == want.PrivateIP {
			d.after(KeyOf(KindLoadBalancer, b.Name))
		}
	}
}

// targetNeeds lets a load balancer wait for the subnet that its targets are in.
func (p *balancers) targetNeeds(d *changeBuilder, want schemas.InfraLoadBalancer) {
	for _, ip := range want.IPTargets {
		d.needs(p.subnetFor(ip))
	}
}

const anotherType = "choose another type in cluster.yaml"

// balancerType refuses a type that Hetzner does not have, or that cannot hold
// what is desired.
func (p *balancers) balancerType(d *changeBuilder, want schemas.InfraLoadBalancer) {
	if !slices.ContainsFunc(p.observed.Catalogue.LoadBalancerTypes, func(t LoadBalancerType) bool { return t.Name == want.Type }) {
		p.refusal(d.Key, fmt.Sprintf("Hetzner has no load balancer type %s", want.Type), anotherType)
	}
	p.balancerRoom(d, want)
	if p.observed.Catalogue.location(want.Location) == nil {
		p.refusal(d.Key, fmt.Sprintf("Hetzner has no location %s", want.Location), "choose another location in cluster.yaml")
	}
}

// balancerRoom refuses what a type cannot hold.
func (p *balancers) balancerRoom(d *changeBuilder, want schemas.InfraLoadBalancer) {
	for _, t := range p.observed.Catalogue.LoadBalancerTypes {
		switch targets := len(want.Targets) + len(want.IPTargets); {
		case t.Name != want.Type:
		case len(want.Services) > t.MaxServices:
			p.refusal(d.Key, fmt.Sprintf("%s has room for %d services, not for %d", t.Name, t.MaxServices, len(want.Services)), anotherType)
		case targets > t.MaxTargets:
			p.refusal(d.Key, fmt.Sprintf("%s has room for %d targets, not for %d", t.Name, t.MaxTargets, targets), anotherType)
		}
	}
}

func (p *balancers) updateBalancer(want schemas.InfraLoadBalancer, have *LoadBalancer) {
	d := buildChange(KindLoadBalancer, want.Name, have.ID, Update)
	if have.Type != want.Type {
		p.balancerType(d, want)
		d.differ(FieldType, have.Type, want.Type, "")
	} else {
		p.balancerRoom(d, want)
	}
	d.differ(FieldAlgorithm, have.Algorithm, want.Algorithm, "")
	if from := p.balancerAddress(have); from != want.PrivateIP {
		f := Field{Name: FieldPrivateIP, from: from, to: want.PrivateIP, Class: InPlace}
		if from != "" {
			f.Reason = "it is detached and attached again"
		}
		d.field(f)
		p.balancerNeeds(d, want)
	}
	d.differ(FieldPublic, onOff(have.PublicInterface), onOff(want.PublicInterface), "")
	d.services(have.Services, want.Services)
	d.targets(have.Targets, WantedTargets(want))
	p.targetNeeds(d, want)
	d.labels(have.Labels, want.Labels)
	d.reverse(ipv4, have.PublicIPv4, want.ReverseDNS)
	d.reverse(ipv6, have.PublicIPv6, want.ReverseDNS)
	d.differ(FieldProtected, onOff(have.Protected), onOff(want.Protected), "")
	p.add(d)
}

// services compares services by the port that they listen on.
func (d *changeBuilder) services(have []Service, want []schemas.InfraService) {
	for _, h := range have {
		if !slices.ContainsFunc(want, func(w schemas.InfraService) bool { return w.ListenPort == h.ListenPort }) {
			d.field(Field{Name: FieldServices, Item: h.Item(), from: serviceText(h), Class: InPlace, Reason: "not in Git"})
		}
	}
	for _, w := range want {
		service := Service{InfraService: w}
		from, to := "", serviceText(service)
		if i := slices.IndexFunc(have, func(h Service) bool { return h.ListenPort == w.ListenPort }); i >= 0 {
			from, to = serviceDifference(have[i], service)
		}
		if from != to {
			d.field(Field{Name: FieldServices, Item: service.Item(), from: from, to: to, Class: InPlace})
		}
	}
}

// defaultStatusCodes are healthy to Hetzner if none are named.
var defaultStatusCodes = []string{"2??", "3??"}

// Item names a service in a plan.
func (s Service) Item() string { return strconv.Itoa(s.ListenPort) }

// serviceParts are the properties of a service as text, always in the same
// places.
func serviceParts(s Service) []string {
	h := s.HealthCheck
	parts := []string{
		s.Protocol, fmt.Sprintf("to %d", s.DestinationPort), "proxy protocol " + onOff(s.ProxyProtocol), "checked by " + h.Protocol,
		fmt.Sprintf("at %d", h.Port), fmt.Sprintf("every %ds", h.Interval), fmt.Sprintf("timeout %ds", h.Timeout), fmt.Sprintf("%d retries", h.Retries),
	}
	if h.Protocol != "http" {
		return append(parts, "", "", "", "", "")
	}
	codes := h.StatusCodes
	if len(codes) == 0 {
		codes = defaultStatusCodes
	}
	return append(parts, "TLS "+onOff(h.TLS), "domain "+orNone(s.Domain), "path "+h.Path,
		"status "+strings.Join(slices.Sorted(slices.Values(codes)), " or "), "answer "+orNone(h.Response))
}

// unsaid are properties that are not worth a word, unless they differ.
var unsaid = []string{"", "proxy protocol off", "TLS off", "domain nothing", "answer nothing"}

// serviceText writes a service in one form.
func serviceText(s Service) string {
	return strings.Join(slices.DeleteFunc(serviceParts(s), func(p string) bool { return slices.Contains(unsaid, p) }), ", ")
}

// serviceDifference writes what differs between two services.
func serviceDifference(have, want Service) (from, to string) {
	a, b := serviceParts(have), serviceParts(want)
	var was, will []string
	for i := range a {
		if a[i] != b[i] {
			was, will = append(was, a[i]), append(will, b[i])
		}
	}
	join := func(list []string) string {
		return strings.Join(slices.DeleteFunc(list, func(p string) bool { return p == "" }), ", ")
	}
	return orNone(join(was)), orNone(join(will))
}
