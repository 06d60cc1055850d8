package cloud

import (
	"context"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// Observe reads what [cloudplan.Observed] has to hold for a cluster. It changes
// nothing. A read that fails, fails all: nothing is taken for absent because it
// could not be read.
//
// Each kind is one list of what has the cluster's label. Only where something
// is missing in it that is desired, or attached to what is the cluster's, the
// whole list is read: somebody may have taken the label away, or have something
// else of that name.
func (c *Client) Observe(ctx context.Context, desired schemas.Infrastructure) (cloudplan.Observed, error) {
	o := newObserver(c.api, desired)
	// What is attached to a network, and to servers, is known only after them.
	for _, stage := range [][]read{
		{o.networks, o.firewalls, o.placementGroups, o.floatingIPs, o.primaryIPs, o.sshKeys, o.images, o.zones},
		{o.servers, o.loadBalancers, o.keptIPs},
		{o.volumes, func(ctx context.Context) error { return c.catalogue(ctx, o) }},
	} {
		for _, read := range stage {
			if err := read(ctx); err != nil {
				return cloudplan.Observed{}, err
			}
		}
	}
	o.found.Time = c.ServerTime()
	return o.found, nil
}

// catalogue reads what Hetzner sells, once for a run: it is the same when the
// run looks again.
func (c *Client) catalogue(ctx context.Context, o *observer) error {
	leave, err := c.sold.Take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if c.sold.known {
		o.found.Catalogue = c.sold.catalogue
		return nil
	}
	for _, read := range []read{o.locations, o.serverTypes, o.loadBalancerTypes, o.pricing} {
		if err := read(ctx); err != nil {
			return err
		}
	}
	c.sold.known, c.sold.catalogue = true, o.found.Catalogue
	return nil
}

type read func(context.Context) error

// observer collects what is found of a cluster.
type observer struct {
	api     *hcloud.Client
	desired schemas.Infrastructure
	label   string // the selector of what is the cluster's
	found   cloudplan.Observed
}

func newObserver(api *hcloud.Client, desired schemas.Infrastructure) *observer {
	return &observer{api: api, desired: desired, label: schemas.LabelCluster + "=" + desired.Cluster}
}

// kindOf is how a kind of object is listed.
type kindOf[T any, U labelled] struct {
	what string
	list func(context.Context, hcloud.ListOpts) ([]*T, *hcloud.Response, error)
	from func(*T) U
}

// labelled is what has a name, an id and labels.
type labelled interface{ Object() cloudplan.Meta }

// own lists what has the cluster's label, and what is wanted whether it has it
// or not.
func own[T any, U labelled](ctx context.Context, o *observer, w wanted, k kindOf[T, U]) ([]U, error) {
	list := func(opts hcloud.ListOpts) ([]*T, *hcloud.Response, error) { return k.list(ctx, opts) }
	raw, err := all(ctx, k.what, o.label, list)
	if err != nil {
		return nil, err
	}
	found := convert(raw, k.from)
	names, ids := convert(found, func(u U) string { return u.Object().Name }), convert(found, func(u U) int64 { return u.Object().ID })
	if !w.missing(names, ids) {
		return found, nil
	}
	if raw, err = all(ctx, k.what, "", list); err != nil {
		return nil, err
	}
	found = nil
	for _, r := range raw {
		u := k.from(r)
		if m := u.Object(); m.Labels[schemas.LabelCluster] == o.desired.Cluster || w.has(m.Name, m.ID) {
			found = append(found, u)
		}
	}
	return found, nil
}

func (o *observer) networks(ctx context.Context) (err error) {
	var w wanted
	if n := o.desired.Network; n != nil {
		w = wanted{names: []string{n.Name}, ids: []int64{n.ExistingID}}
	}
	o.found.Networks, err = own(ctx, o, w, kindOf[hcloud.Network, cloudplan.Network]{
		what: "networks", from: networkFrom,
		list: func(ctx context.Context, l hcloud.ListOpts) ([]*hcloud.Network, *hcloud.Response, error) {
			return o.api.Network.List(ctx, hcloud.NetworkListOpts{ListOpts: l, Sort: oldestFirst})
		},
	})
	return err
}

func (o *observer) firewalls(ctx context.Context) (err error) {
	w := wantedOf(o.desired.Firewalls, func(f schemas.InfraFirewall) (string, int64) { return f.Name, f.ExistingID })
	o.found.Firewalls, err = own(ctx, o, w, kindOf[hcloud.Firewall, cloudplan.Firewall]{
		what: "firewalls", from: firewallFrom,
		list: func(ctx context.Context, l hcloud.ListOpts) ([]*hcloud.Firewall, *hcloud.Response, error) {
			return o.api.Firewall.List(ctx, hcloud.FirewallListOpts{ListOpts: l, Sort: oldestFirst})
		},
	})
	return err
}

func (o *observer) placementGroups(ctx context.Context) (err error) {
	w := wantedOf(o.desired.PlacementGroups, func(g schemas.InfraPlacementGroup) (string, int64) { return g.Name, 0 })
	o.found.PlacementGroups, err = own(ctx, o, w, kindOf[hcloud.PlacementGroup, cloudplan.PlacementGroup]{
		what: "placement groups", from: placementGroupFrom,
		list: func(ctx context.Context, l hcloud.ListOpts) ([]*hcloud.PlacementGroup, *hcloud.Response, error) {
			return o.api.PlacementGroup.List(ctx, hcloud.PlacementGroupListOpts{ListOpts: l, Sort: oldestFirst})
		},
	})
	return err
}

func (o *observer) floatingIPs(ctx context.Context) (err error) {
	w := wantedOf(o.desired.FloatingIPs, func(f schemas.InfraFloatingIP) (string, int64) { return f.Name, f.ExistingID })
	o.found.FloatingIPs, err = own(ctx, o, w, kindOf[hcloud.FloatingIP, cloudplan.FloatingIP]{
		what: "floating IPs", from: floatingIPFrom,
		list: func(ctx context.Context, l hcloud.ListOpts) ([]*hcloud.FloatingIP, *hcloud.Response, error) {
			return o.api.FloatingIP.List(ctx, hcloud.FloatingIPListOpts{ListOpts: l, Sort: oldestFirst})
		},
	})
	return err
}

func (o *observer) primaryIPs(ctx context.Context) error { return o.listPrimaryIPs(ctx, wanted{}) }

// keptIPs are those that servers have, or are named for servers, that keep theirs.
func (o *observer) keptIPs(ctx context.Context) error {
	var w wanted
	for _, s := range o.desired.Servers {
		if !s.KeepPrimaryIPs {
			continue
		}
		for _, have := range o.found.Servers {
			if have.Name == s.Name {
				w.ids = append(w.ids, have.PublicIPv4.ID, have.PublicIPv6.ID)
			}
		}
		for ipType, wants := range map[hcloud.PrimaryIPType]bool{hcloud.PrimaryIPTypeIPv4: s.PublicIPv4, hcloud.PrimaryIPTypeIPv6: s.PublicIPv6} {
			if wants {
				w.names = append(w.names, cloudplan.PrimaryIPName(s.Name, string(ipType)))
			}
		}
	}
	names := convert(o.found.PrimaryIPs, func(p cloudplan.PrimaryIP) string { return p.Name })
	if !w.missing(names, convert(o.found.PrimaryIPs, func(p cloudplan.PrimaryIP) int64 { return p.ID })) {
		return nil
	}
	return o.listPrimaryIPs(ctx, w)
}

func (o *observer) listPrimaryIPs(ctx context.Context, w wanted) (err error) {
	o.found.PrimaryIPs, err = own(ctx, o, w, kindOf[hcloud.PrimaryIP, cloudplan.PrimaryIP]{
		what: "primary IPs", from: primaryIPFrom,
		list: func(ctx context.Context, l hcloud.ListOpts) ([]*hcloud.PrimaryIP, *hcloud.Response, error) {
			return o.api.PrimaryIP.List(ctx, hcloud.PrimaryIPListOpts{ListOpts: l, Sort: oldestFirst})
		},
	})
	return err
}

// servers also takes in those that are attached to the cluster's network.
func (o *observer) servers(ctx context.Context) (err error) {
	w := wanted{ids: o.attached(func(n cloudplan.Network) []int64 { return n.Servers })}
	for _, s := range o.desired.Servers {
		w.names = append(w.names, s.Name)
	}
	o.found.Servers, err = own(ctx, o, w, kindOf[hcloud.Server, cloudplan.Server]{
		what: "servers", from: serverFrom,
		list: func(ctx context.Context, l hcloud.ListOpts) ([]*hcloud.Server, *hcloud.Response, error) {
			return o.api.Server.List(ctx, hcloud.ServerListOpts{ListOpts: l, Sort: oldestFirst})
		},
	})
	return err
}

// loadBalancers also takes in those that are attached to the cluster's network,
// which the cloud controller made.
func (o *observer) loadBalancers(ctx context.Context) (err error) {
	w := wanted{ids: o.attached(func(n cloudplan.Network) []int64 { return n.LoadBalancers })}
	for _, l := range o.desired.LoadBalancers {
		w.names = append(w.names, l.Name)
	}
	for _, r := range o.desired.DNSRecords {
		for _, t := range r.Targets {
			if t.Kind == schemas.TargetLoadBalancer {
				w.names = append(w.names, t.Name)
			}
		}
	}
	o.found.LoadBalancers, err = own(ctx, o, w, kindOf[hcloud.LoadBalancer, cloudplan.LoadBalancer]{
		what: "load balancers", from: loadBalancerFrom,
		list: func(ctx context.Context, l hcloud.ListOpts) ([]*hcloud.LoadBalancer, *hcloud.Response, error) {
			return o.api.LoadBalancer.List(ctx, hcloud.LoadBalancerListOpts{ListOpts: l, Sort: oldestFirst})
		},
	})
	return err
}

// attached returns what is attached to the networks of the cluster, the existing
// one that it uses included.
func (o *observer) attached(of func(cloudplan.Network) []int64) (ids []int64) {
	for _, n := range o.found.Networks {
		ids = append(ids, of(n)...)
	}
	return ids
}

// volumes also takes in those that are attached to servers of the cluster, or have the
// name of one that is desired.
func (o *observer) volumes(ctx context.Context) (err error) {
	var w wanted
	for _, s := range o.found.Servers {
		w.ids = append(w.ids, s.Volumes...)
	}
	for _, s := range o.desired.Servers {
		for _, v := range s.Volumes {
			w.names = append(w.names, v.Name)
		}
	}
	o.found.Volumes, err = own(ctx, o, w, kindOf[hcloud.Volume, cloudplan.Volume]{
		what: "volumes", from: volumeFrom,
		list: func(ctx context.Context, l hcloud.ListOpts) ([]*hcloud.Volume, *hcloud.Response, error) {
			return o.api.Volume.List(ctx, hcloud.VolumeListOpts{ListOpts: l, Sort: oldestFirst})
		},
	})
	return err
}

// settleTries bounds how often a motion is waited for: about two minutes.
const settleTries = 20

// ObserveSettled observes when nothing of the cluster is in motion any more: a
// run that was interrupted leaves servers that come up or go, and a plan made
// of that would not be true for long. What moves on after that is observed as
// it is.
func (c *Client) ObserveSettled(ctx context.Context, desired schemas.Infrastructure) (cloudplan.Observed, error) {
	found, err := c.Observe(ctx, desired)
	if err != nil || !moving(found.Servers, desired.Cluster) {
		return found, err
	}
	for n := range settleTries {
		if err := c.clock.Sleep(ctx, backoff(n, firstPoll, mostPoll, 1)); err != nil {
			return cloudplan.Observed{}, explain("servers", "wait until none is in motion", err)
		}
		o := newObserver(c.api, desired)
		if err := o.servers(ctx); err != nil {
			return cloudplan.Observed{}, err
		}
		if !moving(o.found.Servers, desired.Cluster) {
			break
		}
	}
	return c.Observe(ctx, desired)
}

// moving reports whether a server of the cluster is on its way to another
// status.
func moving(servers []cloudplan.Server, cluster string) bool {
	return slices.ContainsFunc(servers, func(s cloudplan.Server) bool {
		still := s.Status == string(hcloud.ServerStatusRunning) || s.Status == string(hcloud.ServerStatusOff)
		return s.Labels[schemas.LabelCluster] == cluster && (s.Locked || !still)
	})
}
