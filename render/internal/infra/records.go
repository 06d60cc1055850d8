package infra

import (
	"slices"

	"github.com/talosgen/talosgen/schemas"
)

// recordsFirewall gives a cluster something of its own for what apply notes as labels,
// such as that etcd is bootstrapped, if its network and its firewalls are somebody
// else's: a firewall that applies to nothing, and costs nothing.
func (r networkResolver) recordsFirewall() {
	own := func(f schemas.InfraFirewall) bool { return f.ExistingID == 0 }
	if !r.out.Network.Existing || slices.ContainsFunc(r.out.Firewalls, own) {
		return
	}
	r.out.Firewalls = append(r.out.Firewalls, schemas.InfraFirewall{Name: r.name("records"), Labels: r.labels(labelComponent, "records")})
}
