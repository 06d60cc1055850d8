package cloud

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// sessionTime is how long session access lasts if nobody closes it: from then
// on any run collects it.
const sessionTime = 2 * time.Hour

// Access is what a session lets in.
type Access struct {
	// Where from: the operator's addresses.
	From []netip.Prefix
	// TCP ports of the servers.
	Ports []string
	// The label selector of the servers.
	Servers string
}

// Session is access to the servers of a cluster for as long as a run: a
// firewall of its own, which is neither drift nor part of a plan.
type Session struct {
	client *Client
	marker marker
}

// OpenSession lets the addresses of whoever runs apply in. Hetzner applies it to
// the servers that there are, and to those that get the labels later, after a
// moment. Close it, also after an error of what came between.
func (c *Client) OpenSession(ctx context.Context, run Run, a Access) (*Session, error) {
	what := "session access to the cluster " + run.Cluster
	if len(a.From) == 0 || len(a.Ports) == 0 {
		return nil, diag.On(what, "there is nothing to let in").WithCode(diag.Remote)
	}
	expires, err := c.expiry(ctx, sessionTime)
	if err != nil {
		return nil, explain(what, "read the time", err)
	}
	opts := hcloud.FirewallCreateOpts{
		Name:    run.Cluster + "-session-" + labelValue(run.ID),
		Labels:  run.labels(schemas.ComponentSession, expires),
		ApplyTo: []hcloud.FirewallResource{bySelector(a.Servers)},
	}
	var from []net.IPNet
	for _, p := range a.From {
		from = append(from, net.IPNet{IP: p.Masked().Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())})
	}
	for _, port := range a.Ports {
		opts.Rules = append(opts.Rules, hcloud.FirewallRule{
			Direction: hcloud.FirewallRuleDirectionIn, Protocol: hcloud.FirewallRuleProtocolTCP,
			Port: hcloud.Ptr(port), SourceIPs: from, Description: hcloud.Ptr("session of " + labelValue(run.Owner)),
		})
	}
	// After a lost answer it is there, or the name is free.
	var m marker
	for range 2 {
		if m, err = c.createMarker(ctx, run, opts); err == nil || !Stale(err) {
			break
		}
	}
	if err != nil {
		return nil, explain(what, "open it", err)
	}
	return &Session{client: c, marker: m}, nil
}

// Close takes the access away.
func (s *Session) Close(ctx context.Context) error {
	return explain("firewall "+s.marker.name, "close the session access", s.client.removeFirewall(ctx, s.marker.id))
}

// CollectSessions removes the session access of runs that died, and returns the
// names of the firewalls that it removed. With all, also that of runs that may
// still live: for destroy.
func (c *Client) CollectSessions(ctx context.Context, cluster string, all bool) (removed []string, err error) {
	found, err := c.markers(ctx, cluster, schemas.ComponentSession)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		if !all && c.ServerTime().Before(m.expires) {
			continue
		}
		if err := c.removeFirewall(ctx, m.id); err != nil {
			return removed, explain("firewall "+m.name, "remove the session access that is left", err)
		}
		removed = append(removed, m.name)
	}
	return removed, nil
}
