package cloud

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/apply/plan"
	"github.com/talosgen/talosgen/schemas"
)

// stays says when an object that is there costs.
func (c *costs) stays(kind Kind, id int64) state {
	change := c.change(kind, id)
	return state{true, change == nil || change.Action != Delete}
}

// becomes adds an object that is there, as it was and as it will be.
func (c *costs) becomes(key plan.Key, was, will position, when state) {
	if when.after && will != was {
		c.line(key, will, state{after: true})
		when.after = false
	}
	c.line(key, was, when)
}

// after is the value of a field after a change, which may be nil.
func (c *Change) after(name, is, should string) string {
	if c.changes(name) {
		return should
	}
	return is
}

// named finds what is desired by its name; the zero value if it is not.
func named[T any](list []T, name func(T) string, wanted string) (found T) {
	if i := slices.IndexFunc(list, func(o T) bool { return name(o) == wanted }); i >= 0 {
		found = list[i]
	}
	return found
}

// balancers adds load balancers: those that are there, then new ones.
func (c *costs) balancers() {
	for _, b := range c.observed.LoadBalancers {
		if !c.owner.owns(b.Labels) && !c.owner.madeBalancer(b) && !c.adopted(KindLoadBalancer, b.ID) {
			continue
		}
		change := c.change(KindLoadBalancer, b.ID)
		want := named(c.desired.LoadBalancers, func(w schemas.InfraLoadBalancer) string { return w.Name }, b.Name)
		will := c.balancerPosition(change.after(FieldType, b.Type, want.Type), change.after(FieldLocation, b.Location, want.Location))
		c.becomes(KeyOf(KindLoadBalancer, b.Name), c.balancerPosition(b.Type, b.Location), will, c.stays(KindLoadBalancer, b.ID))
	}
	for _, w := range c.desired.LoadBalancers {
		if key := KeyOf(KindLoadBalancer, w.Name); c.creates(key) {
			c.line(key, c.balancerPosition(w.Type, w.Location), state{after: true})
		}
	}
}

func (c *costs) balancerPosition(kind, location string) position {
	p := position{what: kind + " in " + location}
	types := c.observed.Catalogue.LoadBalancerTypes
	if i := slices.IndexFunc(types, func(t LoadBalancerType) bool { return t.Name == kind }); i >= 0 {
		p.price, p.traffic = typePrice(types[i].Prices, location)
	}
	return p
}

// floatingIPs adds floating IPs, and public addresses that wait for a server.
func (c *costs) floatingIPs() {
	prices := c.observed.Catalogue.Pricing
	of := func(ipType, location string) position {
		return position{what: floatingText(ipType, location), price: addressPrice(prices.FloatingIPs, ipType, location)}
	}
	for _, f := range c.observed.FloatingIPs {
		if !c.owner.owns(f.Labels) && !c.adopted(KindFloatingIP, f.ID) {
			continue
		}
		change := c.change(KindFloatingIP, f.ID)
		want := named(c.desired.FloatingIPs, func(w schemas.InfraFloatingIP) string { return w.Name }, f.Name)
		will := of(change.after(FieldType, f.Type, want.Type), change.after(FieldLocation, f.Location, want.Location))
		c.becomes(KeyOf(KindFloatingIP, f.Name), of(f.Type, f.Location), will, c.stays(KindFloatingIP, f.ID))
	}
	for _, w := range c.desired.FloatingIPs {
		if key := KeyOf(KindFloatingIP, w.Name); c.creates(key) {
			c.line(key, of(w.Type, w.Location), state{after: true})
		}
	}
	for _, p := range c.observed.PrimaryIPs {
		if p.Assignee == 0 && p.Type == ipv4 && c.owner.owns(p.Labels) {
			paid := c.stays(KindPrimaryIP, p.ID)
			paid.after = paid.after && !c.awaited(p.Name)
			c.line(KeyOf(KindPrimaryIP, p.Name), waiting(prices, p), paid)
		}
	}
}

// awaited reports whether a server is to get the address of a name, and is what is paid
// for it then.
func (c *costs) awaited(name string) bool {
	return slices.ContainsFunc(c.desired.Servers, func(s schemas.InfraServer) bool {
		return s.PublicIPv4 && !s.Surge && PrimaryIPName(s.Name, ipv4) == name
	})
}

func waiting(prices Pricing, p PrimaryIP) position {
	return position{what: "IPv4 address in " + p.Location, price: addressPrice(prices.PrimaryIPs, p.Type, p.Location)}
}

func floatingText(ipType, location string) string {
	return map[string]string{ipv4: "floating IPv4", ipv6: "floating IPv6"}[ipType] + " in " + location
}

// volumes adds volumes of pods and of servers.
func (c *costs) volumes() {
	wanted := map[string]int{}
	for _, s := range c.desired.Servers {
		for _, w := range s.Volumes {
			wanted[w.Name] = w.Size
		}
	}
	for _, v := range c.observed.Volumes {
		if !c.owner.owns(v.Labels) && !c.owner.madeVolume(v) && !c.adopted(KindVolume, v.ID) {
			continue
		}
		will := v.Size
		if change := c.change(KindVolume, v.ID); change.changes(FieldSize) {
			will = wanted[v.Name]
		}
		c.becomes(KeyOf(KindVolume, v.Name), c.volume(v.Size), c.volume(will), c.stays(KindVolume, v.ID))
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if key := KeyOf(KindVolume, name); c.creates(key) {
			c.line(key, c.volume(wanted[name]), state{after: true})
		}
	}
}

func (c *costs) volume(size int) position {
	return perGB(fmt.Sprintf("volume of %d GB", size), c.observed.Catalogue.Pricing.Volume, new(big.Rat).SetInt64(int64(size)))
}

// images adds snapshots of the cluster.
func (c *costs) images() {
	for _, i := range c.observed.Images {
		size := new(big.Rat).SetFloat64(i.ImageSize)
		if size != nil && i.Type != "system" && c.owner.owns(i.Labels) {
			c.line(KeyOf(KindImage, idText(i.ID)), perGB("image of "+strconv.FormatFloat(i.ImageSize, 'f', -1, 64)+" GB", c.observed.Catalogue.Pricing.Image, size),
				c.stays(KindImage, i.ID))
		}
	}
}

// perGB is something that is paid by the GB.
func perGB(what string, price Price, size *big.Rat) position {
	p := position{what: what}
	if a, ok := amountOf(price); ok {
		p.price = a.times(size).price()
	}
	return p
}
