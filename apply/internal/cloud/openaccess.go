package cloud

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/sorting"
	"github.com/talosgen/talosgen/schemas"
)

// ReadAccess reads session access from a firewall that was observed; found is false
// if the firewall is another one.
func (c *Client) ReadAccess(f cloudplan.Firewall) (access cloudplan.OpenAccess, found bool) {
	if f.Labels[schemas.LabelComponent] != schemas.ComponentSession {
		return cloudplan.OpenAccess{}, false
	}
	m := markerFrom(&hcloud.Firewall{Labels: f.Labels})
	access = cloudplan.OpenAccess{
		ID: f.ID, Firewall: f.Name, Owner: f.Labels[labelOwner], Stays: f.Labels[labelStays] == yes,
		Expires: m.expires.UTC(), Expired: !c.ServerTime().Before(m.expires),
	}
	for _, r := range f.Rules {
		access.Ports = append(access.Ports, r.Port)
		access.From = append(access.From, r.SourceIPs...)
	}
	sorting.By(access.Ports, byNumber)
	slices.Sort(access.From)
	access.Ports, access.From = slices.Compact(access.Ports), slices.Compact(access.From)
	return access, true
}

// byNumber sorts ports.
func byNumber(a, b string) int {
	first, _ := strconv.Atoi(a)
	second, _ := strconv.Atoi(b)
	return first - second
}

// Accesses lists the session access to a cluster, the oldest first.
func (c *Client) Accesses(ctx context.Context, cluster string) ([]cloudplan.OpenAccess, error) {
	selector := fmt.Sprintf("%s=%s,%s=%s", schemas.LabelCluster, cluster, schemas.LabelComponent, schemas.ComponentSession)
	found, err := all(ctx, "firewalls", selector, func(l hcloud.ListOpts) ([]*hcloud.Firewall, *hcloud.Response, error) {
		return c.api.Firewall.List(ctx, hcloud.FirewallListOpts{ListOpts: l, Sort: oldestFirst})
	})
	list := []cloudplan.OpenAccess{}
	for _, f := range found {
		if access, is := c.ReadAccess(firewallFrom(f)); is {
			list = append(list, access)
		}
	}
	return list, explain("session access to the cluster "+cluster, "list it", err)
}

// CloseAccess removes the access that operators have opened to a cluster, and that
// of any run whose time is over: with an owner only what that owner has opened, but
// for one firewall by its name, which may be empty. It returns what it removed.
func (c *Client) CloseAccess(ctx context.Context, cluster, owner, except string) (closed []cloudplan.OpenAccess, err error) {
	found, err := c.Accesses(ctx, cluster)
	if err != nil {
		return nil, err
	}
	for _, access := range found {
		wanted := access.Stays && (owner == "" || access.Owner == labelValue(owner))
		if access.Firewall == except || !wanted && !access.Expired {
			continue
		}
		if err := c.removeFirewall(ctx, access.ID); err != nil {
			return closed, explain("firewall "+access.Firewall, "close the session access", err)
		}
		closed = append(closed, access)
	}
	return closed, nil
}
