package cloud

import (
	"context"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	cloudplan "github.com/talosgen/talosgen/apply/plan/cloud"
	"github.com/talosgen/talosgen/internal/diag"
	"github.com/talosgen/talosgen/schemas"
)

// groupStep is a change of a placement group, sshKeyStep of an SSH key, and imageStep of
// an image.
type (
	groupStep  struct{ *step }
	sshKeyStep struct{ fixed }
	imageStep  struct{ fixed }
)

func groupName(g schemas.InfraPlacementGroup) string { return g.Name }

func (s groupStep) create(ctx context.Context) error {
	want, err := desired(s.step, s.plan.Desired.PlacementGroups, groupName)
	if err != nil {
		return err
	}
	made, _, err := s.api.PlacementGroup.Create(ctx, hcloud.PlacementGroupCreateOpts{
		Name: want.Name, Labels: want.Labels, Type: hcloud.PlacementGroupTypeSpread,
	})
	if err != nil {
		return err
	}
	s.made(made.PlacementGroup.ID)
	return s.waiter.wait(ctx, made.Action)
}

func (s groupStep) update(ctx context.Context) error {
	want, err := desired(s.step, s.plan.Desired.PlacementGroups, groupName)
	if err != nil {
		return err
	}
	have, err := observed(s.step, s.plan.Observed.PlacementGroups)
	if err != nil {
		return err
	}
	return s.set(ctx, one{cloudplan.FieldLabels, func(ctx context.Context, _ []cloudplan.Field) error {
		_, _, err := s.api.PlacementGroup.Update(ctx, &hcloud.PlacementGroup{ID: s.ID}, hcloud.PlacementGroupUpdateOpts{
			Labels: cloudplan.MergeLabels(want.Labels, have.Labels),
		})
		return err
	}})
}

func (s groupStep) remove(ctx context.Context) error {
	_, err := s.api.PlacementGroup.Delete(ctx, &hcloud.PlacementGroup{ID: s.ID})
	return done(err)
}

func (s sshKeyStep) remove(ctx context.Context) error {
	_, err := s.api.SSHKey.Delete(ctx, &hcloud.SSHKey{ID: s.ID})
	return done(err)
}

func (s imageStep) create(ctx context.Context) error {
	want, err := desired(s.step, s.plan.Desired.Images, cloudplan.ImageName)
	if err != nil {
		return err
	}
	if s.inputs.Image == nil {
		return diag.On(s.object, "the image is missing").WithCode(diag.Remote).WithHint("make it: talosgen image build")
	}
	id, err := s.inputs.Image(ctx, *want)
	if err == nil {
		s.made(id)
	}
	return err
}

func (s imageStep) remove(ctx context.Context) error {
	image := &hcloud.Image{ID: s.ID}
	if s.LiftProtection {
		if err := s.await(ctx, "change its protection", func() (*hcloud.Action, *hcloud.Response, error) {
			return s.api.Image.ChangeProtection(ctx, image, hcloud.ImageChangeProtectionOpts{Delete: hcloud.Ptr(false)})
		}); err != nil {
			return done(err)
		}
	}
	_, err := s.api.Image.Delete(ctx, image)
	return done(err)
}
