package cloud

import (
	"context"
	"slices"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// volumeStep is a change of a volume.
type volumeStep struct{ *step }

// wanted is the volume as it is desired, and the server that has it.
func (s volumeStep) wanted() (*schemas.InfraServer, *schemas.InfraVolume, error) {
	for i := range s.plan.Desired.Servers {
		server := &s.plan.Desired.Servers[i]
		for j := range server.Volumes {
			if server.Volumes[j].Name == s.Name {
				return server, &server.Volumes[j], nil
			}
		}
	}
	return nil, nil, diag.On(s.object, "it is not in infrastructure.yaml").WithCode(diag.Remote)
}

// create makes a volume where its server is, attached to it. Talos makes the file system.
func (s volumeStep) create(ctx context.Context) error {
	server, want, err := s.wanted()
	if err != nil {
		return err
	}
	id, err := s.id(cloudplan.KindServer, server.Name)
	if err != nil {
		return err
	}
	made, _, err := s.api.Volume.Create(ctx, hcloud.VolumeCreateOpts{
		Name: want.Name, Size: want.Size, Server: &hcloud.Server{ID: id},
		Labels: cloudplan.MergeLabels(server.Labels, nil), Automount: hcloud.Ptr(false),
	})
	if err != nil {
		return err
	}
	s.made(made.Volume.ID)
	if err := s.waiter.wait(ctx, append(made.NextActions, made.Action)...); err != nil || !server.Protected {
		return err
	}
	return s.protect(ctx, made.Volume, true)
}

func (s volumeStep) update(ctx context.Context) error {
	server, want, err := s.wanted()
	if err != nil {
		return err
	}
	have, err := observed(s.step, s.plan.Observed.Volumes)
	if err != nil {
		return err
	}
	volume := &hcloud.Volume{ID: s.ID}
	return s.set(ctx,
		one{cloudplan.FieldLabels, func(ctx context.Context, _ []cloudplan.Field) error {
			_, _, err := s.api.Volume.Update(ctx, volume, hcloud.VolumeUpdateOpts{Labels: s.labels(server, have)})
			return explain(s.object, "label it", err)
		}},
		one{cloudplan.FieldProtected, func(ctx context.Context, _ []cloudplan.Field) error { return s.protect(ctx, volume, server.Protected) }},
		one{cloudplan.FieldSize, func(ctx context.Context, _ []cloudplan.Field) error {
			return s.await(ctx, "grow it", func() (*hcloud.Action, *hcloud.Response, error) {
				return s.api.Volume.Resize(ctx, volume, want.Size)
			})
		}},
		one{cloudplan.FieldServer, func(ctx context.Context, _ []cloudplan.Field) error { return s.attach(ctx, server.Name, volume) }},
	)
}

// labels are those of its server, with what talosgen says of it, and what it has besides if
// that is to stay.
func (s volumeStep) labels(server *schemas.InfraServer, have *cloudplan.Volume) map[string]string {
	labels := cloudplan.MergeLabels(server.Labels, have.Labels)
	if s.plan.Desired.KeepOthers {
		for key, value := range have.Labels {
			if _, said := server.Labels[key]; !said {
				labels[key] = value
			}
		}
	}
	return labels
}

func (s volumeStep) attach(ctx context.Context, server string, volume *hcloud.Volume) error {
	id, err := s.id(cloudplan.KindServer, server)
	if err != nil {
		return err
	}
	return s.await(ctx, "attach it to "+server, func() (*hcloud.Action, *hcloud.Response, error) {
		return s.api.Volume.AttachWithOpts(ctx, volume, hcloud.VolumeAttachOpts{Server: &hcloud.Server{ID: id}, Automount: hcloud.Ptr(false)})
	})
}

func (s volumeStep) protect(ctx context.Context, volume *hcloud.Volume, on bool) error {
	return s.await(ctx, "change its protection", func() (*hcloud.Action, *hcloud.Response, error) {
		return s.api.Volume.ChangeProtection(ctx, volume, hcloud.VolumeChangeProtectionOpts{Delete: &on})
	})
}

// remove takes the volume from its server first.
func (s volumeStep) remove(ctx context.Context) error {
	volume := &hcloud.Volume{ID: s.ID}
	if s.LiftProtection {
		if err := s.protect(ctx, volume, false); err != nil {
			return done(err)
		}
	}
	have, _, err := s.api.Volume.GetByID(ctx, s.ID)
	if err != nil || have == nil {
		return done(err)
	}
	if have.Server != nil {
		if err := s.await(ctx, "take it from its server", func() (*hcloud.Action, *hcloud.Response, error) {
			return s.api.Volume.Detach(ctx, volume)
		}); err != nil {
			return done(err)
		}
	}
	_, err = s.api.Volume.Delete(ctx, volume)
	return done(err)
}

// ownVolumes are those that a server gets which is made in a location: what it, or the one
// in whose place it comes, had there.
func (s serverStep) ownVolumes(want *schemas.InfraServer, location string) (list []*hcloud.Volume) {
	for _, v := range s.plan.Observed.Volumes {
		desired := slices.ContainsFunc(want.Volumes, func(w schemas.InfraVolume) bool { return w.Name == v.Name })
		free := v.Server == 0 || v.Server == s.ID // else it is not detached yet: the next plan attaches it
		if desired && free && schemas.OwnedBy(s.plan.Cluster, v.Labels) && v.Location == location {
			list = append(list, &hcloud.Volume{ID: v.ID})
		}
	}
	return list
}
