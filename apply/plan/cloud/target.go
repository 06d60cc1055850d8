package cloud

import (
	"net/netip"
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// How targets are reached, as text.
const (
	privateTarget = "by private address"
	publicTarget  = "by public address"
)

// WantedTargets are the targets that a load balancer is to have: servers with labels, and
// dedicated servers behind the vSwitch, all by their private addresses.
func WantedTargets(want schemas.InfraLoadBalancer) (all []Target) {
	for _, selector := range want.Targets {
		all = append(all, Target{Selector: selector, UsePrivateIP: true})
	}
	for _, ip := range want.IPTargets {
		all = append(all, Target{IP: ip})
	}
	return all
}

// targets compares targets.
func (d *changeBuilder) targets(have, want []Target) {
	for _, t := range have {
		if !slices.ContainsFunc(want, t.same) {
			d.field(Field{Name: FieldTargets, Item: t.Item(), from: t.reach(), Class: InPlace, Reason: "not in Git"})
		}
	}
	for _, w := range want {
		from := ""
		if i := slices.IndexFunc(have, w.same); i >= 0 {
			from = have[i].reach()
		}
		if from != w.reach() {
			d.field(Field{Name: FieldTargets, Item: w.Item(), from: from, to: w.reach(), Class: InPlace})
		}
	}
}

// same reports whether two targets are one, however it is reached.
func (t Target) same(o Target) bool {
	if t.Selector != "" && o.Selector != "" {
		return sameSelector(t.Selector, o.Selector)
	}
	return t.Selector == o.Selector && t.Server == o.Server && t.IP == o.IP
}

// Item names a target in a plan: a label selector, "server 123" or "ip 10.0.0.1".
func (t Target) Item() string {
	switch {
	case t.Selector != "":
		return t.Selector
	case t.Server != 0:
		return "server " + idText(t.Server)
	default:
		return "ip " + t.IP
	}
}

// Is reports whether a plan names a target so.
func (t Target) Is(item string) bool {
	return t.Item() == item || t.Selector != "" && sameSelector(t.Selector, item)
}

// Private reports whether a target is reached through the network. The address of a
// dedicated server says that itself.
func (t Target) Private() bool {
	ip, err := netip.ParseAddr(t.IP)
	return t.UsePrivateIP || err == nil && ip.IsPrivate()
}

func (t Target) reach() string {
	if t.Private() {
		return privateTarget
	}
	return publicTarget
}
