package cloud

import (
	"context"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/schemas"
)

// floatingIPStep is a change of a floating IP.
type floatingIPStep struct{ *step }

func floatingName(f schemas.InfraFloatingIP) string { return f.Name }

func (s floatingIPStep) create(ctx context.Context) error {
	want, err := desired(s.step, s.plan.Desired.FloatingIPs, floatingName)
	if err != nil {
		return err
	}
	made, _, err := s.api.FloatingIP.Create(ctx, hcloud.FloatingIPCreateOpts{
		Type:         hcloud.FloatingIPType(want.Type),
		HomeLocation: &hcloud.Location{Name: want.Location},
		Description:  &want.Description,
		Name:         &want.Name,
		Labels:       want.Labels,
	})
	if err != nil {
		return err
	}
	have := floatingIPFrom(made.FloatingIP)
	s.made(have.ID)
	s.mu.Lock()
	s.found.FloatingIPs = append(s.found.FloatingIPs, have)
	s.mu.Unlock()
	if err := s.waiter.wait(ctx, made.Action); err != nil {
		return err
	}
	template := want.ReverseDNS.IPv4
	if made.FloatingIP.Type == hcloud.FloatingIPTypeIPv6 {
		template = want.ReverseDNS.IPv6
	}
	if template != "" {
		if err := s.reverse(ctx, made.FloatingIP, have.IP, cloudplan.ReverseName(template, have.ID, have.IP)); err != nil {
			return err
		}
	}
	if want.Protected {
		return s.protect(ctx, have.ID, true)
	}
	return nil
}

func (s floatingIPStep) update(ctx context.Context) error {
	want, err := desired(s.step, s.plan.Desired.FloatingIPs, floatingName)
	if err != nil {
		return err
	}
	have, err := observed(s.step, s.plan.Observed.FloatingIPs)
	if err != nil {
		return err
	}
	ip := &hcloud.FloatingIP{ID: s.ID}
	update := func(ctx context.Context, _ []cloudplan.Field) error {
		_, _, err := s.api.FloatingIP.Update(ctx, ip, hcloud.FloatingIPUpdateOpts{
			Description: want.Description, Labels: cloudplan.MergeLabels(want.Labels, have.Labels),
		})
		return err
	}
	return s.set(ctx,
		one{cloudplan.FieldDescription, update},
		one{cloudplan.FieldLabels, update},
		one{cloudplan.FieldReverseDNS, func(ctx context.Context, _ []cloudplan.Field) error {
			return s.reverse(ctx, ip, have.IP, cloudplan.ReverseNameOf(want.ReverseDNS, have.Type, have.ID, have.IP))
		}},
		one{cloudplan.FieldProtected, func(ctx context.Context, _ []cloudplan.Field) error {
			return s.protect(ctx, s.ID, want.Protected)
		}},
	)
}

func (s floatingIPStep) protect(ctx context.Context, id int64, on bool) error {
	return s.await(ctx, "change its protection", func() (*hcloud.Action, *hcloud.Response, error) {
		return s.api.FloatingIP.ChangeProtection(ctx, &hcloud.FloatingIP{ID: id}, hcloud.FloatingIPChangeProtectionOpts{Delete: &on})
	})
}

// remove takes the address from its server first: Hetzner deletes
// none that is assigned.
func (s floatingIPStep) remove(ctx context.Context) error {
	ip := &hcloud.FloatingIP{ID: s.ID}
	if s.LiftProtection {
		if err := s.protect(ctx, s.ID, false); err != nil {
			return done(err)
		}
	}
	have, _, err := s.api.FloatingIP.GetByID(ctx, s.ID)
	if err != nil || have == nil {
		return done(err)
	}
	if have.Server != nil {
		if err := s.await(ctx, "take it from its server", func() (*hcloud.Action, *hcloud.Response, error) {
			return s.api.FloatingIP.Unassign(ctx, ip)
		}); err != nil {
			return done(err)
		}
	}
	_, err = s.api.FloatingIP.Delete(ctx, ip)
	return done(err)
}

// publicIPv4 gives a server that lives an address, or takes it away.
func (u *serverUpdate) publicIPv4(ctx context.Context, _ []cloudplan.Field) error {
	return u.publicIP(ctx, u.want.PublicIPv4, hcloud.PrimaryIPTypeIPv4, u.have.PublicIPv4)
}

func (u *serverUpdate) publicIPv6(ctx context.Context, _ []cloudplan.Field) error {
	return u.publicIP(ctx, u.want.PublicIPv6, hcloud.PrimaryIPTypeIPv6, u.have.PublicIPv6)
}

func (u *serverUpdate) publicIP(ctx context.Context, on bool, ipType hcloud.PrimaryIPType, have cloudplan.PublicIP) error {
	if err := u.switchOff(ctx); err != nil {
		return err
	}
	if !on {
		return u.dropPrimaryIP(ctx, have.ID)
	}
	id, err := u.primaryIP(ctx, ipType)
	if err != nil {
		return err
	}
	return u.await(ctx, "assign a public address", func() (*hcloud.Action, *hcloud.Response, error) {
		return u.api.PrimaryIP.Assign(ctx, hcloud.PrimaryIPAssignOpts{ID: id, AssigneeID: u.ID, AssigneeType: "server"})
	})
}

// primaryIP returns the address that an interrupted run has made for the
// server, or a new one. It has the cluster's labels, so that it is found again,
// and dies with the server.
func (u *serverUpdate) primaryIP(ctx context.Context, ipType hcloud.PrimaryIPType) (int64, error) {
	name := cloudplan.PrimaryIPName(u.Name, string(ipType))
	for _, p := range u.plan.Observed.PrimaryIPs {
		if p.Name == name && p.Type == string(ipType) && p.Assignee == 0 {
			return p.ID, nil
		}
	}
	made, _, err := u.api.PrimaryIP.Create(ctx, hcloud.PrimaryIPCreateOpts{
		Name: name, Type: ipType, Location: u.have.Location, AssigneeType: "server",
		AutoDelete: hcloud.Ptr(true), Labels: u.transient(),
	})
	if err != nil {
		return 0, explain(u.object, "get a public address", err)
	}
	return made.PrimaryIP.ID, u.waiter.wait(ctx, made.Action)
}

// transient are the labels of what belongs to the cluster without being in
// infrastructure.yaml.
func (u *serverUpdate) transient() map[string]string {
	return map[string]string{schemas.LabelCluster: u.plan.Cluster, schemas.LabelManagedBy: schemas.ManagedBy}
}

// dropPrimaryIP takes an address from the server and deletes it. It gets the
// cluster's labels first, so that a later run finds it if this one ends here.
func (u *serverUpdate) dropPrimaryIP(ctx context.Context, id int64) error {
	labels := u.transient()
	ip := &hcloud.PrimaryIP{ID: id}
	if _, _, err := u.api.PrimaryIP.Update(ctx, ip, hcloud.PrimaryIPUpdateOpts{Labels: &labels}); err != nil {
		return done(explain(u.object, "mark its public address", err))
	}
	if err := u.await(ctx, "take its public address", func() (*hcloud.Action, *hcloud.Response, error) {
		return u.api.PrimaryIP.Unassign(ctx, id)
	}); err != nil {
		return done(err)
	}
	_, err := u.api.PrimaryIP.Delete(ctx, ip)
	return done(explain(u.object, "delete its public address", err))
}
