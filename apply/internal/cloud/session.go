package cloud

import (
	"cmp"
	"context"
	"maps"
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
	// Whether the run holds the lock of the cluster.
	Locked bool
	// When it ends if nothing closes it; zero: after some hours.
	Lasts time.Duration
	// Whether it stays open after its run, until then or until it is closed by
	// [Client.CloseAccess].
	Stays bool
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
	expires, err := c.expiry(ctx, cmp.Or(a.Lasts, sessionTime))
	if err != nil {
		return nil, explain(what, "read the time", err)
	}
	opts := hcloud.FirewallCreateOpts{
		Name:    run.Cluster + "-session-" + labelValue(run.ID),
		Labels:  run.labels(schemas.ComponentSession, expires),
		ApplyTo: []hcloud.FirewallResource{bySelector(a.Servers)},
	}
	if a.Locked {
		opts.Labels[labelHeldLock] = yes
	}
	if a.Stays {
		opts.Labels[labelStays] = yes
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
	// After a lost answer it is there, or the name is free, or what was read is older
	// than that.
	var m marker
	for n := range tries {
		if m, err = c.createMarker(ctx, run, opts); err == nil || !Stale(err) {
			break
		}
		if serr := c.clock.Sleep(ctx, backoff(n, firstPoll, mostPoll, 1)); serr != nil {
			break
		}
	}
	if err != nil {
		var problems diag.List
		problems.AddErr(explain(what, "open it", err))
		problems.AddErr(explain(what, "close it again", c.giveUp(ctx, opts.Name, run)))
		return nil, problems.Err()
	}
	return &Session{client: c, marker: m}, nil
}

// giveUp removes the session access that a run may have opened though it was told
// otherwise: nobody would know of it.
func (c *Client) giveUp(ctx context.Context, name string, run Run) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWithin)
	defer cancel()
	f, _, err := c.api.Firewall.GetByName(ctx, name)
	if err != nil || f == nil || f.Labels[labelRun] != labelValue(run.ID) {
		return err
	}
	return c.removeFirewall(ctx, f.ID)
}

// HoldsLock notes that the run holds the lock of the cluster from now on.
func (s *Session) HoldsLock(ctx context.Context) error {
	if s.marker.labels[labelHeldLock] == yes {
		return nil
	}
	labels := maps.Clone(s.marker.labels)
	labels[labelHeldLock] = yes
	_, _, err := s.client.api.Firewall.Update(ctx, &hcloud.Firewall{ID: s.marker.id}, hcloud.FirewallUpdateOpts{Labels: labels})
	if err == nil {
		s.marker.labels = labels
	}
	return explain("firewall "+s.marker.name, "note that its run holds the lock", err)
}

// Name returns the name of the firewall.
func (s *Session) Name() string { return s.marker.name }

// Close takes the access away.
func (s *Session) Close(ctx context.Context) error {
	err := explain("firewall "+s.marker.name, "close the session access", s.client.removeFirewall(ctx, s.marker.id))
	if err == nil {
		return nil
	}
	var problems diag.List
	problems.AddErr(err)
	problems.Add(diag.On("firewall "+s.marker.name, "it still lets %s in, until it is removed", s.marker.labels[labelOwner]).WithCode(diag.Remote).
		WithHint("the next `talosgen apply` removes it if this run has changed something, and any later than %s; or delete it in the Hetzner Console",
			s.marker.expires.UTC().Format(time.RFC3339)))
	return problems.Err()
}

// yes is the value of labels that say that something is so.
const yes = "yes"

// CollectSessions removes the session access of runs that died, and returns the
// names of the firewalls that it removed: of those whose time is over, and of
// those that have held the lock of the cluster, which the caller holds now; but not
// the own access of the caller. With all, also that of runs that may still live:
// for destroy.
func (c *Client) CollectSessions(ctx context.Context, cluster string, own *Session, all bool) (removed []string, err error) {
	found, err := c.markers(ctx, cluster, schemas.ComponentSession)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		dead := m.labels[labelHeldLock] == yes || !c.ServerTime().Before(m.expires)
		if own != nil && m.id == own.marker.id || !all && !dead {
			continue
		}
		if err := c.removeFirewall(ctx, m.id); err != nil {
			return removed, explain("firewall "+m.name, "remove the session access that is left", err)
		}
		removed = append(removed, m.name)
	}
	return removed, nil
}
