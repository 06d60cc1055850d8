package cloud

import (
	"math/big"

	"github.com/talosgen/talosgen/schemas"
)

// autoscaled adds up what the autoscaler may make besides what there is.
func (c *costs) autoscaled() {
	most, more := c.after, false
	for _, pool := range c.desired.AutoscalerPools {
		free := pool.Max - c.inGroup(pool.Group)
		if free <= 0 || c.plan.Destroy {
			continue
		}
		for _, p := range c.positions(server{kind: pool.Type, location: pool.Location, ipv4: pool.PublicIPv4}) {
			a, ok := amountOf(p.price)
			if !ok {
				c.cost.Unknown = append(c.cost.Unknown, p.what)
				return
			}
			most, more = most.plus(a.times(new(big.Rat).SetInt64(int64(free)))), true
		}
	}
	if more {
		c.cost.Most = most.price()
	}
}

// inGroup counts the servers of a group that stay, which are in the sums already.
func (c *costs) inGroup(group string) (n int) {
	for _, s := range c.observed.Servers {
		if s.Labels[schemas.LabelNodeGroup] == group && c.owner.servers[s.ID] && !c.goes(KindServer, s.ID) {
			n++
		}
	}
	return n
}
