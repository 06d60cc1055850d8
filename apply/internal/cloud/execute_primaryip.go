package cloud

import (
	"context"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// primaryIPStep is a change of an address of a server.
type primaryIPStep struct{ fixed }

// update changes an address while its server runs. Hetzner protects none that goes with
// its server.
func (s primaryIPStep) update(ctx context.Context) error {
	for _, f := range s.Fields {
		if !slices.Contains([]string{cloudplan.FieldName, cloudplan.FieldLabels, cloudplan.FieldAutoDelete, cloudplan.FieldProtected}, f.Name) {
			return diag.On(s.object, "apply cannot change its %s", f.Name).WithCode(diag.Remote)
		}
	}
	have, err := s.have()
	if err != nil {
		return err
	}
	want, kept := s.want(have)
	_, protects := s.has(cloudplan.FieldProtected)
	if protects && have.Protected {
		if err := s.protect(ctx, false); err != nil {
			return err
		}
	}
	if err := s.put(ctx, have, want, kept); err != nil {
		return err
	}
	if protects && !have.Protected {
		return s.protect(ctx, true)
	}
	return nil
}

// put writes what one call writes, if any of it differs.
func (s primaryIPStep) put(ctx context.Context, have *cloudplan.PrimaryIP, labels map[string]string, kept bool) error {
	_, name := s.has(cloudplan.FieldName)
	_, labelled := s.has(cloudplan.FieldLabels)
	_, lives := s.has(cloudplan.FieldAutoDelete)
	if !name && !labelled && !lives {
		return nil
	}
	opts := hcloud.PrimaryIPUpdateOpts{Name: s.Name, AutoDelete: hcloud.Ptr(!kept)}
	if kept {
		all := cloudplan.MergeLabels(labels, have.Labels)
		opts.Labels = &all
	}
	_, _, err := s.api.PrimaryIP.Update(ctx, &hcloud.PrimaryIP{ID: s.ID}, opts)
	return explain(s.object, "change it", err)
}

// have is the address as it was observed.
func (s primaryIPStep) have() (*cloudplan.PrimaryIP, error) {
	for i := range s.plan.Observed.PrimaryIPs {
		if ip := &s.plan.Observed.PrimaryIPs[i]; ip.ID == s.ID {
			return ip, nil
		}
	}
	return nil, diag.On(s.object, "it was not observed").WithCode(diag.Remote)
}

// want are the labels of an address that a server keeps, if one does.
func (s primaryIPStep) want(have *cloudplan.PrimaryIP) (labels map[string]string, kept bool) {
	for _, server := range s.plan.Desired.Servers {
		if server.KeepPrimaryIPs && cloudplan.PrimaryIPName(server.Name, have.Type) == s.Name {
			return server.Labels, true
		}
	}
	return nil, false
}

func (s primaryIPStep) protect(ctx context.Context, on bool) error {
	return s.await(ctx, "change its protection", func() (*hcloud.Action, *hcloud.Response, error) {
		return s.api.PrimaryIP.ChangeProtection(ctx, hcloud.PrimaryIPChangeProtectionOpts{ID: s.ID, Delete: on})
	})
}

// kept is the address that a server gets which is made in a location: one that it, or the
// one in whose place it comes, had there. nil: a new one.
func (s serverStep) kept(ipType hcloud.PrimaryIPType, location string) *hcloud.PrimaryIP {
	want, err := s.wanted()
	if err != nil || !want.KeepPrimaryIPs {
		return nil
	}
	for _, ip := range s.plan.Observed.PrimaryIPs {
		free := ip.Assignee == 0 || ip.Assignee == s.ID && !ip.AutoDelete // else it went with its server
		if ip.Name == cloudplan.PrimaryIPName(s.Name, string(ipType)) && ip.Type == string(ipType) && ip.Location == location && free && s.owns(ip) {
			return &hcloud.PrimaryIP{ID: ip.ID}
		}
	}
	return nil
}

// owns reports whether an address is the cluster's, or becomes that by this plan.
func (s serverStep) owns(ip cloudplan.PrimaryIP) bool {
	return schemas.OwnedBy(s.plan.Cluster, ip.Labels) || slices.ContainsFunc(s.plan.Changes, func(c cloudplan.Change) bool {
		return c.Key == cloudplan.KeyOf(cloudplan.KindPrimaryIP, ip.Name)
	})
}

func (s primaryIPStep) remove(ctx context.Context) error {
	if s.LiftProtection {
		if err := s.protect(ctx, false); err != nil {
			return done(err)
		}
	}
	_, err := s.api.PrimaryIP.Delete(ctx, &hcloud.PrimaryIP{ID: s.ID})
	return done(err)
}
