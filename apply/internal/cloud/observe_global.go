package cloud

import (
	"context"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// sshKeys reads the keys that servers are made with, and those of the cluster.
func (o *observer) sshKeys(ctx context.Context) error {
	var w wanted
	for _, s := range o.desired.Servers {
		w.names = append(w.names, s.SSHKeys...)
	}
	found, err := all(ctx, "SSH keys", "", func(l hcloud.ListOpts) ([]*hcloud.SSHKey, *hcloud.Response, error) {
		return o.api.SSHKey.List(ctx, hcloud.SSHKeyListOpts{ListOpts: l, Sort: oldestFirst})
	})
	for _, k := range found {
		if w.has(k.Name, 0) || k.Labels[schemas.LabelCluster] == o.desired.Cluster {
			o.found.SSHKeys = append(o.found.SSHKeys, sshKeyFrom(k))
		}
	}
	return err
}

// images reads, for each image that servers are made from, those that fit.
func (o *observer) images(ctx context.Context) error {
	var needs []schemas.InfraImage
	need := func(i schemas.InfraImage) {
		if !slices.Contains(needs, i) {
			needs = append(needs, i)
		}
	}
	for _, s := range o.desired.Servers {
		need(s.Image)
	}
	for _, s := range o.desired.Images {
		need(schemas.InfraImage{Selector: s.Selector, Architecture: s.Architecture})
	}
	for _, n := range needs {
		found, err := all(ctx, "images", n.Selector, func(l hcloud.ListOpts) ([]*hcloud.Image, *hcloud.Response, error) {
			opts := hcloud.ImageListOpts{
				ListOpts: l, Sort: oldestFirst, Name: n.Name,
				Architecture: []hcloud.Architecture{hcloud.Architecture(n.Architecture)},
			}
			if n.Name == "" {
				opts.Type = []hcloud.ImageType{hcloud.ImageTypeSnapshot}
			}
			return o.api.Image.List(ctx, opts)
		})
		if err != nil {
			return err
		}
		for _, i := range found {
			o.addImage(imageFrom(i))
		}
	}
	return nil
}

// addImage adds an image that another selector may have found already.
func (o *observer) addImage(i cloudplan.Image) {
	if !slices.ContainsFunc(o.found.Images, func(have cloudplan.Image) bool { return have.ID == i.ID }) {
		o.found.Images = append(o.found.Images, i)
	}
}

// zones reads the zones of the project, and of each the record sets that have
// the cluster's label or are desired: a zone in which no record is desired any
// more may still hold some.
func (o *observer) zones(ctx context.Context) error {
	found, err := all(ctx, "DNS zones", "", func(l hcloud.ListOpts) ([]*hcloud.Zone, *hcloud.Response, error) {
		return o.api.Zone.List(ctx, hcloud.ZoneListOpts{ListOpts: l, Sort: oldestFirst})
	})
	if err != nil {
		return err
	}
	for _, zone := range found {
		z := zoneFrom(zone)
		if z.RRSets, err = o.rrsets(ctx, zone); err != nil {
			return err
		}
		o.found.Zones = append(o.found.Zones, z)
	}
	return nil
}

func (o *observer) rrsets(ctx context.Context, zone *hcloud.Zone) (sets []cloudplan.RRSet, err error) {
	found, err := all(ctx, "records of the DNS zone "+zone.Name, o.label, func(l hcloud.ListOpts) ([]*hcloud.ZoneRRSet, *hcloud.Response, error) {
		return o.api.Zone.ListRRSets(ctx, zone, hcloud.ZoneRRSetListOpts{ListOpts: l})
	})
	if err != nil {
		return nil, err
	}
	sets = convert(found, rrsetFrom)
	for _, r := range o.desired.DNSRecords {
		known := func(s cloudplan.RRSet) bool { return s.Name == r.Name && s.Type == r.Type }
		if r.Zone != zone.Name || slices.ContainsFunc(sets, known) {
			continue
		}
		one, _, err := o.api.Zone.GetRRSetByNameAndType(ctx, zone, r.Name, hcloud.ZoneRRSetType(r.Type))
		if err != nil {
			return nil, explain("DNS record "+r.Name+"."+r.Zone, "read", err)
		}
		if one != nil {
			sets = append(sets, rrsetFrom(one))
		}
	}
	return sets, nil
}

func (o *observer) locations(ctx context.Context) error {
	found, err := all(ctx, "locations", "", func(l hcloud.ListOpts) ([]*hcloud.Location, *hcloud.Response, error) {
		return o.api.Location.List(ctx, hcloud.LocationListOpts{ListOpts: l})
	})
	o.found.Catalogue.Locations = convert(found, locationFrom)
	return err
}

func (o *observer) serverTypes(ctx context.Context) error {
	found, err := all(ctx, "server types", "", func(l hcloud.ListOpts) ([]*hcloud.ServerType, *hcloud.Response, error) {
		return o.api.ServerType.List(ctx, hcloud.ServerTypeListOpts{ListOpts: l})
	})
	o.found.Catalogue.ServerTypes = convert(found, serverTypeFrom)
	return err
}

func (o *observer) loadBalancerTypes(ctx context.Context) error {
	found, err := all(ctx, "load balancer types", "", func(l hcloud.ListOpts) ([]*hcloud.LoadBalancerType, *hcloud.Response, error) {
		return o.api.LoadBalancerType.List(ctx, hcloud.LoadBalancerTypeListOpts{ListOpts: l})
	})
	o.found.Catalogue.LoadBalancerTypes = convert(found, loadBalancerTypeFrom)
	return err
}

func (o *observer) pricing(ctx context.Context) error {
	p, _, err := o.api.Pricing.Get(ctx)
	if err != nil {
		return explain("prices", "read", err)
	}
	o.found.Catalogue.Pricing = pricingFrom(p)
	return nil
}
