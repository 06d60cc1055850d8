package cloud

import (
	"context"
	"net"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// networkStep is a change of the network, subnetStep of one of its subnets, and
// routeStep of one of its routes.
type (
	networkStep struct{ *step }
	subnetStep  struct{ fixed }
	routeStep   struct{ *step }
)

func (s networkStep) create(ctx context.Context) error {
	want := s.plan.Desired.Network
	ipRange, err := parseCIDR(want.IPRange)
	if err != nil {
		return err
	}
	made, _, err := s.api.Network.Create(ctx, hcloud.NetworkCreateOpts{
		Name: want.Name, IPRange: ipRange, Labels: cloudplan.MergeLabels(want.Labels, s.inputs.Notes), ExposeRoutesToVSwitch: want.ExposeRoutesToVSwitch,
	})
	if err != nil {
		return err
	}
	s.made(made.ID)
	if want.Protected {
		return s.protect(ctx, made.ID, true)
	}
	return nil
}

func (s networkStep) update(ctx context.Context) error {
	leave, err := s.net.Take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	want, n := s.plan.Desired.Network, &hcloud.Network{ID: s.ID}
	update := func(ctx context.Context, _ []cloudplan.Field) error {
		have, err := observed(s.step, s.plan.Observed.Networks)
		if err != nil {
			return err
		}
		_, _, err = s.api.Network.Update(ctx, n, hcloud.NetworkUpdateOpts{
			Labels: cloudplan.MergeLabels(want.Labels, have.Labels), ExposeRoutesToVSwitch: &want.ExposeRoutesToVSwitch,
		})
		return err
	}
	return s.set(ctx,
		one{cloudplan.FieldIPRange, func(ctx context.Context, _ []cloudplan.Field) error {
			ipRange, err := parseCIDR(want.IPRange)
			if err != nil {
				return err
			}
			return s.await(ctx, "extend its range", func() (*hcloud.Action, *hcloud.Response, error) {
				return s.api.Network.ChangeIPRange(ctx, n, hcloud.NetworkChangeIPRangeOpts{IPRange: ipRange})
			})
		}},
		one{cloudplan.FieldExpose, update},
		one{cloudplan.FieldLabels, update},
		one{cloudplan.FieldProtected, func(ctx context.Context, _ []cloudplan.Field) error {
			return s.protect(ctx, s.ID, want.Protected)
		}},
	)
}

func (s networkStep) protect(ctx context.Context, id int64, on bool) error {
	return s.await(ctx, "change its protection", func() (*hcloud.Action, *hcloud.Response, error) {
		return s.api.Network.ChangeProtection(ctx, &hcloud.Network{ID: id}, hcloud.NetworkChangeProtectionOpts{Delete: &on})
	})
}

func (s networkStep) remove(ctx context.Context) error {
	if s.LiftProtection {
		if err := s.protect(ctx, s.ID, false); err != nil {
			return done(err)
		}
	}
	_, err := s.api.Network.Delete(ctx, &hcloud.Network{ID: s.ID})
	return done(err)
}

func (s subnetStep) create(ctx context.Context) error {
	want, err := desired(s.step, s.plan.Desired.Network.Subnets, func(n schemas.InfraSubnet) string { return n.IPRange })
	if err != nil {
		return err
	}
	ipRange, err := parseCIDR(want.IPRange)
	if err != nil {
		return err
	}
	return s.changeNetwork(ctx, "add the subnet", func(n *hcloud.Network) (*hcloud.Action, *hcloud.Response, error) {
		return s.api.Network.AddSubnet(ctx, n, hcloud.NetworkAddSubnetOpts{Subnet: hcloud.NetworkSubnet{
			Type:        hcloud.NetworkSubnetType(want.Type),
			IPRange:     ipRange,
			NetworkZone: hcloud.NetworkZone(want.NetworkZone),
			VSwitchID:   want.VSwitchID,
		}})
	})
}

func (s subnetStep) remove(ctx context.Context) error {
	ipRange, err := parseCIDR(s.Name)
	if err != nil {
		return err
	}
	return done(s.changeNetwork(ctx, "remove the subnet", func(n *hcloud.Network) (*hcloud.Action, *hcloud.Response, error) {
		return s.api.Network.DeleteSubnet(ctx, n, hcloud.NetworkDeleteSubnetOpts{Subnet: hcloud.NetworkSubnet{IPRange: ipRange}})
	}))
}

func (s routeStep) create(ctx context.Context) error {
	want, err := desired(s.step, s.plan.Desired.Network.Routes, func(r schemas.InfraRoute) string { return r.Destination })
	if err != nil {
		return err
	}
	destination, err := parseCIDR(want.Destination)
	if err != nil {
		return err
	}
	route := hcloud.NetworkRoute{Destination: destination, Gateway: net.ParseIP(want.Gateway)}
	return s.changeNetwork(ctx, "add the route", func(n *hcloud.Network) (*hcloud.Action, *hcloud.Response, error) {
		return s.api.Network.AddRoute(ctx, n, hcloud.NetworkAddRouteOpts{Route: route})
	})
}

// routeWithin is how long an interrupt waits for a route that is being changed.
const routeWithin = 2 * time.Minute

// update takes the old route away: Hetzner has no call to change one. Until the new one
// is there nodes may have no way out, so that an interrupt waits for both.
func (s routeStep) update(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), routeWithin)
	defer cancel()
	if err := s.remove(ctx); err != nil {
		return err
	}
	return s.create(ctx)
}

func (s routeStep) remove(ctx context.Context) error {
	for _, have := range s.observed().Routes {
		if have.Destination != s.Name {
			continue
		}
		destination, err := parseCIDR(have.Destination)
		if err != nil {
			return err
		}
		route := hcloud.NetworkRoute{Destination: destination, Gateway: net.ParseIP(have.Gateway)}
		return done(s.changeNetwork(ctx, "remove the route", func(n *hcloud.Network) (*hcloud.Action, *hcloud.Response, error) {
			return s.api.Network.DeleteRoute(ctx, n, hcloud.NetworkDeleteRouteOpts{Route: route})
		}))
	}
	return nil
}

// observed is the cluster's network as it was observed.
func (s routeStep) observed() cloudplan.Network {
	if id, err := s.network(); err == nil {
		for _, n := range s.plan.Observed.Networks {
			if n.ID == id.ID {
				return n
			}
		}
	}
	return cloudplan.Network{}
}

// changeNetwork makes a change of the cluster's network, one at a time: Hetzner
// refuses two at once.
func (s *step) changeNetwork(ctx context.Context, doing string, call func(*hcloud.Network) (*hcloud.Action, *hcloud.Response, error)) error {
	n, err := s.network()
	if err != nil {
		return err
	}
	leave, err := s.net.Take(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return s.await(ctx, doing, func() (*hcloud.Action, *hcloud.Response, error) { return call(n) })
}
