package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/talosgen/talosgen/schemas"
)

// stays says when an object that is there costs.
func (c *costs) stays(kind Kind, id int64) state {
	change := c.m.change(kind, id)
	return state{true, change == nil || change.Action != Delete}
}

// balancers adds load balancers: those that are there, then new ones.
func (c *costs) balancers() {
	for _, b := range c.m.observed.LoadBalancers {
		if !c.m.owner.owns(b.Labels) && !c.m.owner.madeBalancer(b) && !c.m.adopted(KindLoadBalancer, b.ID) {
			continue
		}
		kind, location := b.Type, b.Location
		if change := c.m.change(KindLoadBalancer, b.ID); change != nil {
			for _, f := range change.Fields {
				switch {
				case f.Name == FieldType && f.To != "":
					kind = f.To
				case f.Name == FieldLocation:
					location = f.To
				}
			}
		}
		key, when := KeyOf(KindLoadBalancer, b.Name), c.stays(KindLoadBalancer, b.ID)
		if kind != b.Type || location != b.Location {
			c.balancer(key, kind, location, state{after: true})
			when.after = false
		}
		c.balancer(key, b.Type, b.Location, when)
	}
	for _, ch := range c.m.plan.Changes {
		i := slices.IndexFunc(c.m.desired.LoadBalancers, func(b schemas.InfraLoadBalancer) bool { return b.Name == ch.Name })
		if ch.Kind == KindLoadBalancer && ch.Action == Create && i >= 0 {
			c.balancer(ch.Key, c.m.desired.LoadBalancers[i].Type, c.m.desired.LoadBalancers[i].Location, state{after: true})
		}
	}
}

func (c *costs) balancer(key Key, kind, location string, when state) {
	price := Price{}
	types := c.m.observed.Catalogue.LoadBalancerTypes
	if i := slices.IndexFunc(types, func(t LoadBalancerType) bool { return t.Name == kind }); i >= 0 {
		price = c.typePrice(types[i].Prices, location, when)
	}
	c.line(key, kind+" in "+location, price, when)
}

// floatingIPs adds floating IPs, and public addresses that wait for a server.
func (c *costs) floatingIPs() {
	prices := c.m.observed.Catalogue.Pricing
	for _, f := range c.m.observed.FloatingIPs {
		if !c.m.owner.owns(f.Labels) && !c.m.adopted(KindFloatingIP, f.ID) {
			continue
		}
		c.line(KeyOf(KindFloatingIP, f.Name), floatingText(f.Type, f.Location), addressPrice(prices.FloatingIPs, f.Type, f.Location), c.stays(KindFloatingIP, f.ID))
	}
	for _, ch := range c.m.plan.Changes {
		i := slices.IndexFunc(c.m.desired.FloatingIPs, func(f schemas.InfraFloatingIP) bool { return f.Name == ch.Name })
		if ch.Kind == KindFloatingIP && ch.Action == Create && i >= 0 {
			w := c.m.desired.FloatingIPs[i]
			c.line(ch.Key, floatingText(w.Type, w.Location), addressPrice(prices.FloatingIPs, w.Type, w.Location), state{after: true})
		}
	}
	for _, p := range c.m.observed.PrimaryIPs {
		if p.Assignee == 0 && p.Type == ipv4 && c.m.owner.owns(p.Labels) {
			c.line(KeyOf(KindPrimaryIP, p.Name), "IPv4 address in "+p.Location, addressPrice(prices.PrimaryIPs, p.Type, p.Location), c.stays(KindPrimaryIP, p.ID))
		}
	}
}

func floatingText(ipType, location string) string {
	return map[string]string{ipv4: "floating IPv4", ipv6: "floating IPv6"}[ipType] + " in " + location
}

// volumes adds volumes of pods.
func (c *costs) volumes() {
	for _, v := range c.m.observed.Volumes {
		if c.m.owner.owns(v.Labels) || c.m.owner.madeVolume(v) {
			c.sized(KeyOf(KindVolume, v.Name), fmt.Sprintf("volume of %d GB", v.Size), c.m.observed.Catalogue.Pricing.Volume,
				new(big.Rat).SetInt64(int64(v.Size)), c.stays(KindVolume, v.ID))
		}
	}
}

// images adds snapshots of the cluster.
func (c *costs) images() {
	for _, i := range c.m.observed.Images {
		size := new(big.Rat).SetFloat64(i.ImageSize)
		if size != nil && i.Type != "system" && c.m.owner.owns(i.Labels) {
			c.sized(KeyOf(KindImage, idText(i.ID)), "image of "+strconv.FormatFloat(i.ImageSize, 'f', -1, 64)+" GB", c.m.observed.Catalogue.Pricing.Image,
				size, c.stays(KindImage, i.ID))
		}
	}
}

// sized adds something that is paid by the GB.
func (c *costs) sized(key Key, what string, perGB Price, size *big.Rat, when state) {
	price := Price{}
	if a, ok := amountOf(perGB); ok {
		price = a.times(size).price()
	}
	c.line(key, what, price, when)
}
