package cloud

import (
	"context"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// serverUpdate is a change of a living server.
type serverUpdate struct {
	serverStep
	want   *schemas.InfraServer
	have   *cloudplan.Server
	server *hcloud.Server
	off    bool // it has been switched off for this change
	noted  bool // a label says so
}

// update changes a living server: first what protects it and would
// disturb its next start, then what it has to be off for, then the rest.
func (s serverStep) update(ctx context.Context) error {
	want, err := s.wanted()
	if err != nil {
		return err
	}
	have, err := observed(s.step, s.plan.Observed.Servers)
	if err != nil {
		return err
	}
	u := &serverUpdate{serverStep: s, want: want, have: have, server: &hcloud.Server{ID: s.ID}}
	return u.neverOff(ctx, s.set(ctx,
		one{cloudplan.FieldLabels, u.labels},
		one{cloudplan.FieldFirewalls, u.firewalls},
		one{cloudplan.FieldRescue, u.rescue},
		one{cloudplan.FieldISO, u.iso},
		one{cloudplan.FieldType, u.rescale},
		one{cloudplan.FieldGroup, u.group},
		one{cloudplan.FieldPublicIPv4, u.publicIPv4},
		one{cloudplan.FieldPublicIPv6, u.publicIPv6},
		one{always, u.restart},
		one{cloudplan.FieldPrivateIP, u.privateIP},
		one{cloudplan.FieldPower, u.power},
		one{cloudplan.FieldReverseDNS, u.reverseNames},
		one{cloudplan.FieldBackups, func(ctx context.Context, _ []cloudplan.Field) error { return s.backups(ctx, u.server, want.Backups) }},
		one{cloudplan.FieldProtected, func(ctx context.Context, _ []cloudplan.Field) error {
			return s.protect(ctx, u.server, want.Protected)
		}},
	))
}

func (u *serverUpdate) labels(ctx context.Context, _ []cloudplan.Field) error {
	labels := cloudplan.MergeLabels(u.want.Labels, u.have.Labels)
	if !cloudplan.LeftOff(*u.have) {
		delete(labels, schemas.LabelOff)
	}
	_, _, err := u.api.Server.Update(ctx, u.server, hcloud.ServerUpdateOpts{Labels: labels})
	return err
}

func (u *serverUpdate) firewalls(ctx context.Context, fields []cloudplan.Field) error {
	for _, f := range fields {
		id, err := u.firewallID(f.Item)
		if err != nil {
			return err
		}
		doing, call := "apply the firewall "+f.Item, u.api.Firewall.ApplyResources
		if f.Edit == cloudplan.Remove {
			doing, call = "take the firewall "+f.Item+" away", u.api.Firewall.RemoveResources
		}
		if err := u.awaitAll(ctx, doing, func() ([]*hcloud.Action, *hcloud.Response, error) {
			return call(ctx, &hcloud.Firewall{ID: id}, []hcloud.FirewallResource{byServer(u.ID)})
		}); err != nil {
			return err
		}
	}
	return nil
}

// firewallID is the id of a desired firewall; one that exists already may have
// no name.
func (s serverStep) firewallID(name string) (int64, error) {
	for _, f := range s.plan.Desired.Firewalls {
		if firewallName(f) == name && f.ExistingID != 0 {
			return f.ExistingID, nil
		}
	}
	return s.id(cloudplan.KindFirewall, name)
}

func (u *serverUpdate) rescue(ctx context.Context, _ []cloudplan.Field) error {
	return u.await(ctx, "turn off its rescue system", func() (*hcloud.Action, *hcloud.Response, error) {
		return u.api.Server.DisableRescue(ctx, u.server)
	})
}

func (u *serverUpdate) iso(ctx context.Context, _ []cloudplan.Field) error {
	return u.await(ctx, "take out its ISO", func() (*hcloud.Action, *hcloud.Response, error) {
		return u.api.Server.DetachISO(ctx, u.server)
	})
}

// rescale gives the server another type: the first one that Hetzner has room
// for.
func (u *serverUpdate) rescale(ctx context.Context, _ []cloudplan.Field) error {
	if err := u.switchOff(ctx); err != nil {
		return err
	}
	var failures []error
	for _, candidate := range u.Candidates {
		err := u.await(ctx, "make it a "+candidate.Type, func() (*hcloud.Action, *hcloud.Response, error) {
			return u.api.Server.ChangeType(ctx, u.server, hcloud.ServerChangeTypeOpts{
				ServerType: &hcloud.ServerType{Name: candidate.Type}, UpgradeDisk: !u.want.KeepDisk,
			})
		})
		if err == nil || !soldOut(err) {
			return err
		}
		failures = append(failures, err)
	}
	return allSoldOut(u.object, failures)
}

// group lets the server leave its placement group, and join another.
func (u *serverUpdate) group(ctx context.Context, _ []cloudplan.Field) error {
	if u.want.PlacementGroup != "" {
		if err := u.switchOff(ctx); err != nil {
			return err
		}
	}
	if u.have.PlacementGroup != 0 {
		if err := u.await(ctx, "take it from its placement group", func() (*hcloud.Action, *hcloud.Response, error) {
			return u.api.Server.RemoveFromPlacementGroup(ctx, u.server)
		}); err != nil {
			return err
		}
	}
	if u.want.PlacementGroup == "" {
		return nil
	}
	id, err := u.id(cloudplan.KindPlacementGroup, u.want.PlacementGroup)
	if err != nil {
		return err
	}
	return u.await(ctx, "add it to the placement group "+u.want.PlacementGroup, func() (*hcloud.Action, *hcloud.Response, error) {
		return u.api.Server.AddToPlacementGroup(ctx, u.server, &hcloud.PlacementGroup{ID: id})
	})
}

// privateIP attaches the server to the network, and takes it from its old
// address there before.
func (u *serverUpdate) privateIP(ctx context.Context, fields []cloudplan.Field) error {
	if fields[0].Edit != cloudplan.Add {
		if err := u.changeNetwork(ctx, "detach it from the network", func(n *hcloud.Network) (*hcloud.Action, *hcloud.Response, error) {
			return u.api.Server.DetachFromNetwork(ctx, u.server, hcloud.ServerDetachFromNetworkOpts{Network: n})
		}); err != nil {
			return err
		}
	}
	return u.attach(ctx, u.server, u.want.PrivateIP)
}

func (u *serverUpdate) reverseNames(ctx context.Context, fields []cloudplan.Field) error {
	for _, f := range fields {
		ip := u.have.PublicIPv4.IP
		if f.Item == string(hcloud.PrimaryIPTypeIPv6) {
			ip = u.have.PublicIPv6.IP
		}
		if ip == "" {
			continue // it comes with this change: the next plan names it
		}
		if err := u.reverse(ctx, u.server, ip, cloudplan.ReverseNameOf(u.want.ReverseDNS, f.Item, u.ID, ip)); err != nil {
			return err
		}
	}
	return nil
}
