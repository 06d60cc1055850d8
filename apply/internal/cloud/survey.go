package cloud

import (
	"context"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// Survey reads what a project has that clusters consist of, whoever it belongs to. It
// changes nothing, and a read that fails, fails all.
func (c *Client) Survey(ctx context.Context) (cloudplan.Observed, error) {
	o := newObserver(c.api, schemas.Infrastructure{})
	o.label = "" // everything
	for _, read := range []read{
		o.networks, o.firewalls, o.placementGroups, o.floatingIPs, o.primaryIPs, o.servers, o.loadBalancers,
		func(ctx context.Context) error { return c.catalogue(ctx, o) },
	} {
		if err := read(ctx); err != nil {
			return cloudplan.Observed{}, err
		}
	}
	o.found.Time = c.ServerTime()
	return o.found, nil
}
