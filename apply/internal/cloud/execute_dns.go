package cloud

import (
	"context"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// recordStep is a change of a set of DNS records.
type recordStep struct{ *step }

func (s recordStep) create(ctx context.Context) error {
	want, err := desired(s.step, s.plan.Desired.DNSRecords, cloudplan.RecordName)
	if err != nil {
		return err
	}
	made, _, err := s.api.Zone.CreateRRSet(ctx, &hcloud.Zone{Name: want.Zone}, hcloud.ZoneRRSetCreateOpts{
		Name: want.Name, Type: hcloud.ZoneRRSetType(want.Type), TTL: &want.TTL,
		Labels: cloudplan.RecordLabels(s.plan.Cluster), Records: s.values(want),
	})
	if err != nil {
		return err
	}
	return s.waiter.wait(ctx, made.Action)
}

// values are the values by what is there now: objects that were made since the
// plan have got their addresses.
func (s recordStep) values(want *schemas.InfraDNSRecord) []hcloud.ZoneRRSetRecord {
	s.mu.Lock()
	defer s.mu.Unlock()
	return convert(cloudplan.RecordValues(*want, &s.found), func(v string) hcloud.ZoneRRSetRecord {
		return hcloud.ZoneRRSetRecord{Value: v}
	})
}

func (s recordStep) update(ctx context.Context) error {
	want, err := desired(s.step, s.plan.Desired.DNSRecords, cloudplan.RecordName)
	if err != nil {
		return err
	}
	set := rrset(want.Zone, want.Name, want.Type)
	return s.set(ctx,
		one{cloudplan.FieldValues, func(ctx context.Context, _ []cloudplan.Field) error {
			return s.await(ctx, "set its values", func() (*hcloud.Action, *hcloud.Response, error) {
				return s.api.Zone.SetRRSetRecords(ctx, set, hcloud.ZoneRRSetSetRecordsOpts{Records: s.values(want)})
			})
		}},
		one{cloudplan.FieldTTL, func(ctx context.Context, _ []cloudplan.Field) error {
			return s.await(ctx, "set its TTL", func() (*hcloud.Action, *hcloud.Response, error) {
				return s.api.Zone.ChangeRRSetTTL(ctx, set, hcloud.ZoneRRSetChangeTTLOpts{TTL: &want.TTL})
			})
		}},
		one{cloudplan.FieldLabels, func(ctx context.Context, _ []cloudplan.Field) error {
			_, _, err := s.api.Zone.UpdateRRSet(ctx, set, hcloud.ZoneRRSetUpdateOpts{Labels: cloudplan.RecordLabels(s.plan.Cluster)})
			return err
		}},
	)
}

func rrset(zone, name, kind string) *hcloud.ZoneRRSet {
	return &hcloud.ZoneRRSet{Zone: &hcloud.Zone{Name: zone}, Name: name, Type: hcloud.ZoneRRSetType(kind)}
}

func (s recordStep) remove(ctx context.Context) error {
	set, err := s.observed()
	if err != nil {
		return err
	}
	if s.LiftProtection {
		if err := s.await(ctx, "change its protection", func() (*hcloud.Action, *hcloud.Response, error) {
			return s.api.Zone.ChangeRRSetProtection(ctx, set, hcloud.ZoneRRSetChangeProtectionOpts{Change: hcloud.Ptr(false)})
		}); err != nil {
			return done(err)
		}
	}
	deleted, _, err := s.api.Zone.DeleteRRSet(ctx, set)
	if err == nil {
		err = s.waiter.wait(ctx, deleted.Action)
	}
	return done(err)
}

func (s recordStep) observed() (*hcloud.ZoneRRSet, error) {
	for _, z := range s.plan.Observed.Zones {
		for _, r := range z.RRSets {
			if cloudplan.RecordName(schemas.InfraDNSRecord{Zone: z.Name, Name: r.Name, Type: r.Type}) == s.Name {
				return rrset(z.Name, r.Name, r.Type), nil
			}
		}
	}
	return nil, diag.On(s.object, "it was not observed").WithCode(diag.Remote)
}
